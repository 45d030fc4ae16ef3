package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// password gives the password of the argument, with a warning, else the first line of the input, which is asked for
// when a person sits before it.
func (c adminCreate) password(ctx context.Context, p program) (secrets.Text, error) {
	if c.Password != "" {
		_, _ = fmt.Fprintln(p.err, "lastmile: --password can be seen by everybody on this machine; leave it out "+
			"next time")
		return secrets.Text(c.Password), nil
	}
	if f, terminal := terminal(p.in); terminal {
		_, _ = fmt.Fprint(p.err, "Password (at least 10 characters): ")
		defer func() { _, _ = fmt.Fprintln(p.err) }()
		echo(f, false)
		defer echo(f, true)
	}
	line, err := readLine(ctx, p.in)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the password: %w", err)
	case line == "":
		return "", errors.New("no password was given on the standard input")
	}
	return secrets.Text(line), nil
}

// terminal reports whether a person types the input.
func terminal(in io.Reader) (*os.File, bool) {
	f, ok := in.(*os.File)
	if !ok {
		return nil, false
	}
	info, err := f.Stat()
	return f, err == nil && info.Mode()&os.ModeCharDevice != 0
}

// echo lets a terminal show what is typed, or not. It does nothing where the program stty is missing. It is not bound
// to the context of the command, because the terminal must be restored after a signal as well.
func echo(f *os.File, on bool) {
	mode := "-echo"
	if on {
		mode = "echo"
	}
	stty := exec.CommandContext(context.Background(), "stty", mode)
	stty.Stdin = f
	_ = stty.Run()
}

// readLine reads the first line of the input without its end. It ends with ctx, and then leaves a reader behind that
// the end of the program takes along.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	if in == nil {
		return "", nil
	}
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		if errors.Is(r.err, io.EOF) {
			r.err = nil
		}
		return strings.TrimRight(r.line, "\r\n"), r.err
	case <-ctx.Done():
		return "", errInterrupted
	}
}
