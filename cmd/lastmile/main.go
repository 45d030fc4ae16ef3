// Command lastmile is the whole service in one program: `lastmile demo` to look at it, `lastmile serve` to run it, and
// the commands that go with running it. This package wires everything and decides nothing about the business.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // organizations' time zones, also on a machine that has none installed
)

// main runs the command of the arguments. A second signal ends the program at once.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	p := program{environ: os.Environ(), out: os.Stdout, err: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}
