package main

import (
	"context"
	"strings"
	"testing"
)

func TestProcessCommands_ShowWhatHasStoppedAndTryItAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	if list := k.command("processes", "list"); !strings.Contains(list, "nothing has stopped") {
		t.Errorf("at first:\n%s", list)
	}
	db := k.app.DB()
	_, err := db.Owner.Exec(t.Context(), `insert into `+db.Namespace.Schema("processes")+
		`.instances (process, key, last_position, ended, error, stopped_at)
		values ('receipts', 'one', 0, true, 'a fault', $1)`, k.app.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if list := k.command("processes", "list"); !strings.Contains(list, "one") || !strings.Contains(list, "a fault") {
		t.Errorf("after a fault:\n%s", list)
	}
	k.command("processes", "retry", "receipts", "one")
	k.eventually("tried again", func(context.Context) (bool, error) {
		return strings.Contains(k.command("processes", "list"), "nothing has stopped"), nil
	})
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
