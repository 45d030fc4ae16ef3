// Command lastmile is the whole product in one program: `lastmile demo` shows it, `lastmile serve` runs it, and further
// commands are for operators. This package connects the parts and holds no business rule.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // organizations' time zones, also on a machine that has none installed

	"github.com/lastmile-isp/lastmile/internal/memory"
)

// main runs the command of the arguments. The first signal stops it in order, a second one ends it at once.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	memory.CollectSeldom(os.Environ(), garbage(os.Args[1:]))
	p := program{environ: os.Environ(), in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// garbage says how much of it a command may leave about.
func garbage(args []string) memory.Garbage {
	if len(args) > 0 && args[0] == "eventstore" {
		return memory.OfNode
	}
	return memory.OfProgram
}
