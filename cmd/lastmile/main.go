// Command lastmile is the whole product in one program: `lastmile demo` shows it, `lastmile serve` runs it, and further
// commands are for operators. This package connects the parts and holds no business rule.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	_ "time/tzdata" // organizations' time zones, also on a machine that has none installed
)

// main runs the command of the arguments. The first signal stops it in order, a second one ends it at once.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	collectSeldom(os.Environ())
	p := program{environ: os.Environ(), in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// garbagePercent is how much the memory may grow between two collections of garbage. At 100, which is the default of
// Go, a busy program spends a quarter of its time on them.
const garbagePercent = 200

// collectSeldom sets garbagePercent, unless the environment has a value for GOGC.
func collectSeldom(environ []string) {
	for _, e := range environ {
		if strings.HasPrefix(e, "GOGC=") {
			return
		}
	}
	debug.SetGCPercent(garbagePercent)
}
