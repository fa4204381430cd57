mkdir -p src other
ln -s ../other src/out
