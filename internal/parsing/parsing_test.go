package parsing_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/parsing"
)

// Parsers of these tests, each with a small limit.
var (
	small = parsing.Limits{CPU: time.Second, Memory: 64 << 20}

	upper = parsing.InChild(parsing.Parser{Name: "upper", Bytes: 100, Child: small}, func(text string) string {
		return strings.ToUpper(text) + os.Getenv("HOME")
	})
	endless = parsing.InChild(parsing.Parser{Name: "endless", Child: small}, func(string) string {
		//lint:ignore SA5002 the child uses up its processor time
		for {
		}
	})
	greedy = parsing.InChild(parsing.Parser{Name: "greedy", Child: small}, func(string) int {
		var all [][]byte
		for range 1 << 10 {
			all = append(all, make([]byte, 1<<20))
		}
		return len(all)
	})
	deep = parsing.InChild(parsing.Parser{Name: "deep", Child: small}, func(string) int {
		var down func(n int) int
		down = func(n int) int { return down(n+1) + 1 }
		return down(0)
	})
	// waiting says in a file which process it is, and ends only with its processor time.
	waiting = parsing.InChild(parsing.Parser{
		Name: "waiting", Child: parsing.Limits{CPU: time.Minute, Memory: 64 << 20},
	}, func(pipe string) string {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			_, _ = f.WriteString(strconv.Itoa(os.Getpid()))
			_ = f.Close()
		}
		//lint:ignore SA5002 the child uses up its processor time
		for {
		}
	})
)

// begin makes a child of waiting, and gives its process id once it works.
func begin(ctx context.Context, t *testing.T, turns *parsing.Turns, org id.Organization) (pid int, done chan error) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pid")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done = make(chan error, 1)
	go func() {
		_, err := waiting.Run(ctx, turns, org, 0, pipe)
		done <- err
	}()
	text, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err = strconv.Atoi(string(text)); err != nil {
		t.Fatal(err)
	}
	return pid, done
}

func TestChild_ReadsWithoutTheEnvironmentOfTheProgram(t *testing.T) {
	t.Parallel()
	got, err := upper.Run(t.Context(), parsing.NewTurns(), id.Organization{}, 5, "hello")
	if err != nil || got != "HELLO" {
		t.Errorf("%q, %v", got, err)
	}
	_, err = upper.Run(t.Context(), parsing.NewTurns(), id.Organization{}, 101, "hello")
	if failure.CodeOf(err) != "input_too_large" {
		t.Errorf("of 101 bytes: %v", err)
	}
}

func TestChild_TimeMemoryAndDepthEndItAlone(t *testing.T) {
	t.Parallel()
	turns, org := parsing.NewTurns(), id.New[id.Organization]()
	_, slow := endless.Run(t.Context(), turns, org, 0, "")
	_, large := greedy.Run(t.Context(), turns, org, 0, "")
	_, nested := deep.Run(t.Context(), turns, org, 0, "")
	for name, err := range map[string]error{"time": slow, "memory": large, "depth": nested} {
		if failure.CodeOf(err) != "input_too_complex" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChild_EndsWithItsRequest(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	pid, done := begin(ctx, t, parsing.NewTurns(), id.Organization{})
	hangUp()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

func TestTurns_OneOrganizationLeavesATurnToTheOthers(t *testing.T) {
	t.Parallel()
	turns, greedyOrg, other := parsing.NewTurns(), id.New[id.Organization](), id.New[id.Organization]()
	ctx, hangUp := context.WithCancel(t.Context())
	var ends []chan error
	for range 3 {
		_, done := begin(ctx, t, turns, greedyOrg)
		ends = append(ends, done)
	}
	if got, err := upper.Run(t.Context(), turns, other, 5, "hello"); err != nil || got != "HELLO" {
		t.Errorf("another organization meanwhile: %q, %v", got, err)
	}
	more := make(chan error)
	for range 12 { // of which eight may wait
		go func() {
			_, err := upper.Run(ctx, turns, greedyOrg, 5, "hello")
			more <- err
		}()
	}
	for range 4 {
		var busy *failure.Error
		if err := <-more; !errors.As(err, &busy) || busy.Code != "parsing_busy" || busy.RetryAfter <= 0 {
			t.Errorf("behind a full line: %v", err)
		}
	}
	hangUp()
	for range 8 {
		ends = append(ends, more)
	}
	for _, done := range ends {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
}
