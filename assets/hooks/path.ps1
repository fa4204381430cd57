# Runs the program at a known place; exit 0 whatever happens, because a failing preToolUse hook denies the tool.
try { if (Test-Path -LiteralPath {{.Path}} -PathType Leaf) { & {{.Path}} {{.Args}} } } catch { };
exit 0
