package script_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs/script"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/parsing"
)

// hostile are scripts of a few bytes whose parsing takes gigabytes or minutes.
var hostile = map[string]string{
	"arrow functions": strings.Repeat("(a=", 22) + "1" + strings.Repeat(")=>1", 22),
	"labels":          strings.Repeat("a:", 8000) + "1",
	"brackets":        strings.Repeat("[", 30000) + strings.Repeat("]", 30000),
	"calls":           strings.Repeat("(", 30000) + strings.Repeat(")", 30000),
	"signs":           strings.Repeat("-", 60000) + "1",
	"a large number":  strings.Repeat("9", 60000) + "n",
}

// TestCounted_AScriptThatTakesLongIsRefusedOutsideOfTheServingProcess, whose memory stays as it was, and another
// organization's script is checked meanwhile.
func TestCounted_AScriptThatTakesLongIsRefusedOutsideOfTheServingProcess(t *testing.T) {
	t.Parallel()
	turns, bad, good := parsing.NewTurns(), id.New[id.Organization](), id.New[id.Organization]()
	refused := make(chan error)
	for _, source := range hostile {
		go func() {
			_, err := script.Counted(t.Context(), turns, bad, source, prefix)
			refused <- err
		}()
	}
	for range 3 {
		if _, err := script.Counted(t.Context(), turns, good, "log(1);", prefix); err != nil {
			t.Errorf("another organization's meanwhile: %v", err)
		}
	}
	for range hostile {
		var fault *script.Fault
		if err := <-refused; !errors.As(err, &fault) {
			t.Errorf("refused with %v", err)
		}
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil || used.Maxrss > 400<<10 {
		t.Errorf("the serving process took %d KiB, %v", used.Maxrss, err)
	}
}

func TestCounted_AClientThatHangsUpEndsTheCheck(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer hangUp()
	_, err := script.Counted(ctx, parsing.NewTurns(), id.Organization{}, hostile["arrow functions"], prefix)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
}

func BenchmarkCounted(b *testing.B) {
	turns := parsing.NewTurns()
	for b.Loop() {
		_, err := script.Counted(b.Context(), turns, id.Organization{},
			`declare("Device.WiFi.SSID.1.SSID", {path: 1}, {value: "a"});`, prefix)
		if err != nil {
			b.Fatal(err)
		}
	}
}
