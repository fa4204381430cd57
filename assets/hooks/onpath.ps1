# The plugin as it lies in its repository has no program: the one on PATH, else the one in the data folder.
try {
$d = if ($env:COPILOT_MEM_HOME) { $env:COPILOT_MEM_HOME } else { "$env:LOCALAPPDATA\copilot-mem" };
$f = (Get-Command 'copilot-mem-hook' -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1).Path;
foreach ($p in $f, "$d\bin\copilot-mem-hook.exe") {
if ($p -and (Test-Path -LiteralPath $p -PathType Leaf)) { & $p {{.Event}}; exit 0 }
}
} catch { };
exit 0
