// Command withpg runs a command with TEST_DATABASE_URL set to a throw-away PostgreSQL server, which all test programs
// that the command starts then share:
//
//	go run ./internal/postgres/pgtest/withpg go test ./...
//
// With -durable the server writes through to disk as an installation does. When TEST_DATABASE_URL is already set, the
// command runs with that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// main exits with the status of the command, or with 1 when the server does not start.
func main() {
	durable := flag.Bool("durable", false, "write through to disk, as an installation does")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: withpg [-durable] command [argument...]")
		os.Exit(2)
	}
	status, err := run(*durable, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
	}
	os.Exit(status)
}

// run starts the server, runs the command and stops the server. SIGINT and SIGTERM go to the command.
func run(durable bool, argv []string) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if os.Getenv("TEST_DATABASE_URL") == "" {
		server, err := pgtest.StartScratch(ctx, pgtest.ScratchConfig{Durable: durable})
		if err != nil {
			return 1, err
		}
		defer server.Stop()
		cmd.Env = append(os.Environ(), "TEST_DATABASE_URL="+server.URL())
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), nil
	}
	return 1, err
}
