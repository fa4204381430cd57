# No path of one machine may be in a repository: PATH first, then the data folder, then a program kept in the
# repository, then copilot-mem itself. Somebody who has none of them notices nothing.
try {
$d = if ($env:COPILOT_MEM_HOME) { $env:COPILOT_MEM_HOME } else { "$env:LOCALAPPDATA\copilot-mem" };
$r = if ($env:COPILOT_PROJECT_DIR) { $env:COPILOT_PROJECT_DIR } else { '.' };
$a = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { "$env:PROCESSOR_ARCHITECTURE" };
$a = $a.ToLower();
$f = { param($n) (Get-Command $n -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1).Path };
foreach ($p in (& $f 'copilot-mem-hook'), "$d\bin\copilot-mem-hook.exe", "$r\.github\copilot-mem\bin\windows-$a\copilot-mem-hook.exe") {
if ($p -and (Test-Path -LiteralPath $p -PathType Leaf)) { & $p {{.Event}}; exit 0 }
};
foreach ($p in (& $f 'copilot-mem'), "$d\bin\copilot-mem.exe") {
if ($p -and (Test-Path -LiteralPath $p -PathType Leaf)) { & $p capture {{.Event}}; exit 0 }
}
} catch { };
exit 0
