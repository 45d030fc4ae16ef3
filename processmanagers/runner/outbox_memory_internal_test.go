package processrunner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// TestMemory_ACommandThatWaitsIsThereOnce: it waits as itself, or as its row has it, and counts with the size
// of the row.
func TestMemory_ACommandThatWaitsIsThereOnce(t *testing.T) {
	t.Parallel()
	w := work{next: processmanagers.Stepped{Output: processmanagers.Output{Commands: []commands.Command{
		commands.ReleasePrompt{},
	}}}}
	for body, whole := range map[string]bool{`{"Text":"plain"}`: true, `{"Text":"\ufffd"}`: false} {
		row := w.first(uuid.New(), body, []byte(`{}`))
		if (row.asked != nil) != whole || (row.Body == nil) != whole || (row.Cause == nil) != whole {
			t.Errorf("%s waits as %+v", body, row)
		}
		if want := int64(len(body) + 2 + handedCost); row.size != want {
			t.Errorf("%s counts %d bytes, want %d", body, row.size, want)
		}
	}
	o := &outbox{}
	o.init(&round{process: &process{r: &Runner{cfg: Config{Concurrency: 1}}}})
	const each = 1 << 20
	for i := range 40 {
		w.key = fmt.Sprint(i)
		o.kick(id.Organization{}, asked{key: w.key, oldest: w.first(uuid.New(), strings.Repeat("x", each), nil)})
	}
	if got := o.handed.Load(); got < maxHanded || got > maxHanded+2*each {
		t.Errorf("%d bytes of commands wait in memory, at most %d may", got, maxHanded)
	}
}
