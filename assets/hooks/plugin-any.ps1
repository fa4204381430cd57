# The bundle for several systems: the program lies in a folder of its system's name, and no launcher is needed to say
# which. The client sets PLUGIN_ROOT in the environment, so no path ever stands in this text.
try {
$a = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { "$env:PROCESSOR_ARCHITECTURE" };
$p = Join-Path $env:PLUGIN_ROOT ('bin\windows-' + $a.ToLower() + '\{{.Name}}.exe');
if (Test-Path -LiteralPath $p -PathType Leaf) { & $p {{.Args}} }
} catch { };
exit 0
