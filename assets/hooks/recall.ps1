# The full program tells the agent what memory knows; where only the small one is, it captures as without this.
try {
$d = if ($env:COPILOT_MEM_HOME) { $env:COPILOT_MEM_HOME } else { "$env:LOCALAPPDATA\copilot-mem" };
$m = (Get-Command 'copilot-mem' -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1).Path;
$b = if ($env:PLUGIN_ROOT) { "$env:PLUGIN_ROOT\bin\copilot-mem.exe" } else { '' };
foreach ($p in $b, $m, "$d\bin\copilot-mem.exe") {
if ($p -and (Test-Path -LiteralPath $p -PathType Leaf)) { & $p recall {{.Args}}; exit 0 }
}
} catch { };
