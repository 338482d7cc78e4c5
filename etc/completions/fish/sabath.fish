# fish completion for sabath. The words come from the program itself, so they are always those of the installed version.
function __sabath_verb
    set -l verb
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or set -a verb $word
    end
    test (count $verb) -eq 0; and return
    if test $verb[1] = manifest -a (count $verb) -gt 1
        printf '%s\n' $verb[1] $verb[2]
    else
        echo $verb[1]
    end
end

function __sabath_words
    sabath help --words (__sabath_verb) 2>/dev/null
    if contains -- (__sabath_verb)[1] fetch info path where cite verify
        sabath list --names 2>/dev/null
    end
end

complete -c sabath -f -a '(__sabath_words)'
complete -c sabath -n 'contains -- (__sabath_verb)[1] manifest' -F
complete -c sabath -l store -r -F
complete -c sabath -l root -r -F
complete -c sabath -l config -r -F
complete -c sabath -s k -l kind -x -a 'dataset model workflow'
complete -c sabath -l access -x -a 'public login private'
complete -c sabath -l color -x -a 'auto always never'
