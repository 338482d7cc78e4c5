#!/usr/bin/python3
"""Tables and checks at a terminal of 80 columns: titles stay, long lines hang below their beginning."""

from support import program
from support.case import Case, main
from support.content import fragment
from support.typed import Shell


class Narrow(Case):
    def at_terminal(self, command, columns=80):
        environment = {**self.sabath.environment, "PS1": "", "TERM": "dumb", "NO_COLOR": "1"}
        environment.pop("COLUMNS", None)
        shell = Shell(["/bin/sh"], environment, self.home, columns)
        self.addCleanup(shell.stop)
        shell.send("stty -echo\n")
        lines = shell.run(f"{program.BINARY} {command}").replace("\r", "").split("\n")
        return [line for line in lines if line and "mark" not in line and not line.startswith("stty")]

    def test_titles_are_seen_in_a_list(self):
        title = "Universes that were simulated"
        name = "a_name_that_is_much_longer_than_those_of_most_assets"
        self.sabath.add(name, [fragment("https://data.example/f")], title=title, version="2019.05.04-parameters")
        self.sabath.add("short", [fragment("https://data.example/f")], title="Other", version="1")
        lines = [line for line in self.at_terminal("list --kind dataset") if "dataset" in line or "TITLE" in line]
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        (long,) = [line for line in lines if line.startswith("a_name")]
        self.assertIn("Universes that", long)
        self.assertIn(name[:8], long)
        whole = self.expect(self.sabath.run("list", "--kind", "dataset")).out
        self.assertIn(f"{name}  dataset  2019.05.04-parame...", whole)
        self.assertIn(title, whole)

    def test_lines_of_doctor_hang(self):
        lines = self.at_terminal("doctor")
        states = [line for line in lines if line.startswith(("ok", "warn", "fail"))]
        whole = self.sabath.run("doctor").out.splitlines()
        self.assertTrue(any(len(line) > 80 for line in whole))
        self.assertEqual(len(states), len([line for line in whole if line.startswith(("ok", "warn", "fail"))]))
        for line in lines:
            self.assertTrue(line in states or line.startswith(19 * " "), line)
            self.assertTrue(len(line) <= 80 or " " not in line[23:], line)  # a path is one word


if __name__ == "__main__":
    main()
