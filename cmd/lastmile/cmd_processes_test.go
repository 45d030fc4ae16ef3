package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

// stopInstance stops an instance of a process, as a fault does.
func (k *kit) stopInstance(process, key string) {
	k.t.Helper()
	db := k.app.DB()
	_, err := db.Owner.Exec(k.t.Context(), `insert into `+db.Namespace.Schema("processes")+
		`.instances (process, key, last_position, ended, error, stopped_at)
		values ($1, $2, 0, true, 'a fault', $3)`, process, key, k.app.clock.Now())
	if err != nil {
		k.t.Fatal(err)
	}
}

func TestProcessCommands_ShowWhatHasStoppedAndTryItAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	if list := k.command("processes", "list"); !strings.Contains(list, "nothing has stopped") {
		t.Errorf("at first:\n%s", list)
	}
	none := func() {
		t.Helper()
		k.eventually("tried again", func(context.Context) (bool, error) {
			return strings.Contains(k.command("processes", "list"), "nothing has stopped"), nil
		})
	}
	// A start tries all again that has stopped. It has done so when two were tried, one after the other.
	for _, key := range []string{"first", "second"} {
		k.stopInstance("receipts", key)
		early := program{environ: k.environ, out: io.Discard, err: io.Discard}
		early.run(t.Context(), []string{"processes", "retry", "receipts", key}) // fails when the start was faster
		none()
	}
	k.stopInstance("receipts", "one")
	if list := k.command("processes", "list"); !strings.Contains(list, "one") || !strings.Contains(list, "a fault") {
		t.Errorf("after a fault:\n%s", list)
	}
	k.command("processes", "retry", "receipts", "one")
	none()
	var out, errs logBuffer
	mistyped := program{environ: k.environ, out: &out, err: &errs}
	if code := mistyped.run(t.Context(), []string{"processes", "retry", "receipts", "xyz"}); code != exitFailed ||
		!strings.Contains(errs.String(), "nothing has stopped") {
		t.Errorf("code %d: %s", code, errs.String())
	}
	p := program{environ: k.environ, out: &out, err: &errs}
	if code := p.run(t.Context(), []string{"processes", "retry", "nobody"}); code != exitFailed ||
		!strings.Contains(errs.String(), `no process "nobody"`) {
		t.Errorf("code %d: %s", code, errs.String())
	}
}
