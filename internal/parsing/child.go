package parsing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// childCommand is the hidden sub-command with which the program runs itself as a child; the parser's name follows.
const childCommand = "parse-input"

// Bounds of what a child writes, in bytes.
const (
	maxChildAnswer = 8 << 20
	maxChildErrors = 4 << 10
)

// Child reads inputs of type In in a child process and gives the verdicts of type Out. Both travel as JSON.
type Child[In, Out any] struct{ parser Parser }

// InChild makes a parser that runs in a child process: this same program, started once more for each input. It is
// called for a variable of a package alone, because the child does its work there, while the program is still being set
// up, and ends. So programs and tests need nothing of their own, and the child opens nothing that the program does.
func InChild[In, Out any](p Parser, read func(In) Out) Child[In, Out] {
	if len(os.Args) == 3 && os.Args[1] == childCommand && os.Args[2] == p.Name {
		os.Exit(serve(p.Child, read))
	}
	return Child[In, Out]{p}
}

// serve does the child's work: it limits itself before it reads a byte.
func serve[In, Out any](l Limits, read func(In) Out) int {
	var in In
	err := limit(l)
	if err == nil {
		err = json.NewDecoder(os.Stdin).Decode(&in)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(read(in))
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Run reads one input of size bytes in a child process, with a turn of the organization. The child ends with ctx.
// Fails: input_too_large, input_too_complex, parsing_busy.
func (c Child[In, Out]) Run(ctx context.Context, t *Turns, org id.Organization, size int, in In) (out Out, err error) {
	err = t.Run(ctx, org, c.parser, size, func(ctx context.Context) error {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write a %s: %w", c.parser.Name, err)
		}
		if text, err = c.parser.inChild(ctx, text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &out); err != nil {
			return fmt.Errorf("read the verdict about a %s: %w", c.parser.Name, err)
		}
		return nil
	})
	return out, err
}

// inChild hands text to a child and gives its answer. The child gets none of the program's environment, which has
// secrets. When the program dies, the child reads the end of its input or reaches its limit.
func (p Parser) inChild(ctx context.Context, text []byte) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, childWait)
	defer cancel()
	answer, said := &bounded{most: maxChildAnswer}, &bounded{most: maxChildErrors, drops: true}
	child := exec.CommandContext(within, self(), childCommand, p.Name)
	child.Env = []string{
		"GOMAXPROCS=1", fmt.Sprintf("GOMEMLIMIT=%d", p.Child.Memory*3/4), "GOTRACEBACK=single",
	}
	child.Args[0] = "lastmile" // as lists of processes show it
	child.Dir, child.WaitDelay = "/", time.Second
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(text), answer, said
	if err := child.Start(); err != nil {
		return nil, errBusy(fmt.Errorf("start a child process: %w", err))
	}
	err := child.Wait()
	switch ended := new(exec.ExitError); {
	case err == nil:
		return answer.kept.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("read a %s: %w", p.Name, context.Cause(ctx))
	case within.Err() != nil:
		return nil, errBusy(within.Err())
	case errors.As(err, &ended):
		first, _, _ := strings.Cut(said.kept.String(), "\n")
		return nil, errTooComplex(fmt.Errorf("read a %s: %w: %s", p.Name, err, first))
	}
	return nil, errBusy(fmt.Errorf("read a %s: %w", p.Name, err))
}

// self is the program's own file. The name below /proc is that of the running program also after an upgrade has put
// another file in its place.
func self() string {
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil {
		return running
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// bounded keeps at most so many bytes. What is more fails, or is dropped.
type bounded struct {
	kept  bytes.Buffer
	most  int
	drops bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.kept.Len()
	if len(p) > room && !b.drops {
		return 0, io.ErrShortBuffer
	}
	_, err := b.kept.Write(p[:min(len(p), room)])
	return len(p), err
}
