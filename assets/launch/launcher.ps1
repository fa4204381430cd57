# Starts the program of this file's name from the folder windows-<arch> beside it. Where none fits, it says nothing and
# exits 0: a hook that fails may deny a tool.
try {
  $arch = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
  $target = switch ($arch) { 'AMD64' { 'windows-amd64' } 'ARM64' { 'windows-arm64' } default { '' } }
  $name = [IO.Path]::GetFileNameWithoutExtension($PSCommandPath)
  $program = Join-Path (Join-Path $PSScriptRoot $target) "$name.exe"
  if ($target -and (Test-Path -LiteralPath $program -PathType Leaf)) {
    & $program @args
    exit $LASTEXITCODE
  }
} catch { }
exit 0
