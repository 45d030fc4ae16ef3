package processrunner

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"weak"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// accepting executes every command.
type accepting struct{ Bus }

// Execute does nothing, and succeeds.
func (accepting) Execute(context.Context, commands.Command, commands.Meta) (bus.Result, error) {
	return bus.Result{}, nil
}

// TestMemory_ACommandThatActedIsGone as soon as it does not count any more, although its row is not deleted yet.
func TestMemory_ACommandThatActedIsGone(t *testing.T) {
	t.Parallel()
	r := &Runner{cfg: Config{Concurrency: 1, Bus: accepting{}}, executing: bounds{fair.NewSlots(1), executeLimit}}
	ctx, cancel := context.WithCancel(t.Context())
	loops := loop.Within(ctx, slog.New(slog.DiscardHandler))
	o := &outbox{}
	o.init(&round{process: &process{r: r}, loops: loops})
	handed := func() weak.Pointer[storedCommand] {
		w := work{next: processmanagers.Stepped{Output: processmanagers.Output{Commands: []commands.Command{
			commands.ReleasePrompt{},
		}}}}
		w.key = "one"
		row := w.first(uuid.New(), "{}", nil)
		o.kick(id.Organization{}, asked{key: w.key, oldest: row})
		return weak.Make(row)
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.work(ctx)
	}()
	if !loop.Wait(t.Context(), o.over) {
		t.Fatal("the command is not executed")
	}
	cancel()
	<-ended
	loops.Stop()
	runtime.GC()
	if n := o.handed.Load(); n != 0 || len(o.acted.list) != 1 {
		t.Errorf("%d bytes of %d commands count", n, len(o.acted.list))
	}
	if row := handed.Value(); row != nil {
		t.Errorf("%d bytes of %T are held, and do not count", row.size, row.asked)
	}
	runtime.KeepAlive(o)
}
