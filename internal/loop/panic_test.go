package loop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

func TestTry_APanicIsAnErrorWithItsStack(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("round: %w", loop.Try(func() error { panic("out of order") }))
	if err.Error() != "round: panic: out of order" || !strings.Contains(loop.StackOf(err), "panic_test.go") {
		t.Errorf("got %q with the stack %q", err, loop.StackOf(err))
	}
	plain := errors.New("plain")
	if got := loop.Try(func() error { return plain }); got != plain || loop.StackOf(got) != "" {
		t.Errorf("an error came back as %v with the stack %q", got, loop.StackOf(got))
	}
	if err := loop.Try(func() error { return nil }); err != nil {
		t.Errorf("success gave %v", err)
	}
}
