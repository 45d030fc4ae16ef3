package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// spoil damages the events of a kind whose text holds something: set is an SQL expression for their new bytes. The
// program must be stopped, because it keeps what it has read.
func (k *kit) spoil(kind, holds, set string) {
	k.t.Helper()
	tag, err := k.db.Owner.Exec(k.t.Context(), storetest.SetData(k.db.Namespace.Schema("eventstore"), set,
		`type like $1 and convert_from(data, 'utf8') like '%' || $2 || '%'`), kind, holds)
	if err != nil || tag.RowsAffected() != 1 {
		k.t.Fatalf("spoilt %v: %v", tag, err)
	}
}

// Damages an event so that it cannot be read, and mends it.
const (
	damaged = `'{'::bytea || data`
	mended  = `substring(data from 2)`
)

// TestBatches_OneUnreadableCustomerStopsNoOther: of two subscriptions of a compensation, a move of their plan and the
// undo of a run, one each cannot be read. The others have theirs, the batches end and name the one that failed, and
// what is left is done by a second one when it can be read again.
func TestBatches_OneUnreadableCustomerStopsNoOther(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.toThirtyDays()
	later := k.onFirst("later", "postpaid")
	var billed []string
	for n := range 2 {
		who, _ := k.subscriber(fmt.Sprintf("25471200%04d", n))
		billed = append(billed, k.subscribe(who, later))
	}
	lines := slices.Sorted(maps.Keys(k.payingAt("hillside", 2)))
	month := k.firstOfMonth(1)
	date := month.Format(time.DateOnly)
	k.advance(map[string]any{"to": month.Add(9 * time.Hour)})
	run := k.billingRun(date, "finished").text("id")
	home := k.must(k.admin, "GET", "/subscriptions/"+lines[0], nil).text("planId")
	k.must(k.admin, "PATCH", "/plans/"+home, map[string]any{"price": 1800})
	now := k.app.clock.Now()
	gift := map[string]any{
		"tag": "hillside", "from": now.Add(-time.Hour), "to": now, "give": map[string]any{"days": 2}, "reason": "mast",
	}
	given := k.must(k.admin, "POST", "/compensations", gift).text("id")

	k.whileStopped("subscribers.SubscriptionCreated%", damaged, lines[0], billed[0])
	k.gives(given, "1", "1")
	if preview := k.must(k.admin, "POST", "/compensations", gift); preview.at("customers") != "0" {
		t.Errorf("previewed: %v", preview) // the one has it, the other one cannot be asked
	}
	k.moves(home, "1", "1")
	preview := k.must(k.admin, "POST", "/batches/"+run+"/undo/preview", nil)
	if blocked := preview.list("blocked"); preview.at("undone") != "1" || len(blocked) != 1 ||
		blocked[0].text("code") != "internal" {
		t.Errorf("the undo is previewed as %v", preview)
	}
	k.undoes(run, "1", "1")

	k.whileStopped("subscribers.SubscriptionCreated%", mended, lines[0], billed[0])
	k.gives(k.must(k.admin, "POST", "/compensations", gift).text("id"), "1", "1")
	k.moves(home, "1", "0")
	k.undoes(run, "2", "0")
	k.must(k.admin, "POST", "/billing/runs", map[string]string{"date": date}) // is held up by no undo
}

// whileStopped changes an event of each of some subscriptions, and starts the program again.
func (k *kit) whileStopped(kind, set string, of ...string) {
	k.t.Helper()
	k.app.Stop()
	for _, line := range of {
		k.spoil(kind, line, set)
	}
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.root, _ = k.login("", testRootEmail, testPassword)
}

// gives gives a compensation, and checks how many get something and how many do not.
func (k *kit) gives(compensation, given, refused string) {
	k.t.Helper()
	at := "/compensations/" + compensation
	k.must(k.admin, "POST", at+"/apply", nil)
	k.eventually("the compensation to end", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", at, "", nil)
		if now.text("state") == "finished" && (now.at("given") != given || now.at("refused") != refused) {
			k.t.Errorf("given: %v", now)
		}
		return now.text("state") == "finished", err
	})
}

// moves moves the customers of a plan, and checks how many are moved and how many are not.
func (k *kit) moves(plan, moved, failed string) {
	k.t.Helper()
	batch := "/batches/" + k.must(k.admin, "POST", "/plans/"+plan+"/move",
		map[string]any{"version": 2, "reason": "prices"}).text("id")
	k.eventually("the end of the move", func(ctx context.Context) (bool, error) {
		b, err := k.admin.call(ctx, "GET", batch, "", nil)
		if b.text("state") == "finished" && (b.at("made") != moved || b.at("failed") != failed) {
			k.t.Errorf("moved: %v", b)
		}
		return b.text("state") == "finished", err
	})
}

// undoes takes a batch back, and checks how many items were taken back in all, and how many were not.
func (k *kit) undoes(batch, undone, blocked string) {
	k.t.Helper()
	k.must(k.admin, "POST", "/batches/"+batch+"/undo", map[string]any{"reason": "wrong"})
	if b := k.undone(batch); b.at("undo.undone") != undone || b.at("undo.blocked") != blocked {
		k.t.Errorf("undone: %v", b)
	}
}
