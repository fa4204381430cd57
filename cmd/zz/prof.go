package main

import (
	"os"
	"runtime/pprof"
)

func init() {
	if p := os.Getenv("PROF"); p != "" {
		f, _ := os.Create(p)
		pprof.StartCPUProfile(f)
		stop = pprof.StopCPUProfile
	}
}

var stop = func() {}
