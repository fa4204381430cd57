# The client sets PLUGIN_ROOT in the environment, so no path ever stands in this text.
try {
$p = Join-Path $env:PLUGIN_ROOT 'bin\{{.Name}}.exe';
if (Test-Path -LiteralPath $p -PathType Leaf) { & $p {{.Args}} }
} catch { };
exit 0
