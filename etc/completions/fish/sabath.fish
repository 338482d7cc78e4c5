# fish completion for sabath. The words come from the program itself, so they are always those of the installed version.
function __sabath_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] help --complete -- $words[2..-1] "$current" 2>/dev/null)
    if test (count $found) -gt 1
        printf '%s\n' $found[2..-1]
        return
    end
    set -l before (string match -r -- '^--[^=]*=' "$current")
    set -l begun (string replace -r -- '^--[^=]*=' '' "$current")
    switch "$found[1]"
        case files
            string replace -r -- '^' "$before" (__fish_complete_path "$begun")
        case directories
            string replace -r -- '^' "$before" (__fish_complete_directories "$begun" '')
    end
end

complete -c sabath -f -a '(__sabath_complete)'
