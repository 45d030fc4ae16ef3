package vault_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// off is the clock of a machine that is off by some time.
type off time.Duration

func (o off) Now() time.Time { return time.Now().UTC().Add(time.Duration(o)) }

// inboxOf is the inbox as the program on a machine sees it.
func (k kit) inboxOf(t *testing.T, machine off) *vault.Inbox {
	t.Helper()
	ring, err := secrets.New(key(1))
	if err != nil {
		t.Fatal(err)
	}
	return must[*vault.Vault](t)(vault.Open(t.Context(), vault.Config{
		DB: k.db, Keyring: ring, Clock: machine, Argon2: cheap,
	})).Inbox
}

// TestInbox_WhatIsDueIsToldByTheDatabaseAlone: the clock of one of two machines is hours ahead, or is put right after
// the callback was stored and tried.
func TestInbox_WhatIsDueIsToldByTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	ahead, right := k.inboxOf(t, off(3*time.Hour)), k.inboxOf(t, 0)
	takes := func(inbox *vault.Inbox, want int, when string) []vault.TakenCallback {
		t.Helper()
		taken := must[[]vault.TakenCallback](t)(inbox.Take(t.Context(), 10))
		if len(taken) != want {
			t.Fatalf("%s: %d taken, want %d", when, len(taken), want)
		}
		return taken
	}
	passes := func(by string) {
		t.Helper()
		k.exec(t, `update {schema}.callbacks set due_at = due_at - interval '`+by+`'`)
	}
	must[uuid.UUID](t)(ahead.Store(t.Context(), callback()))
	held := takes(right, 1, "stored by the machine that is ahead")
	takes(ahead, 0, "held by the other machine")
	if err := right.Fail(t.Context(), held[0], "away", time.Minute); err != nil {
		t.Fatal(err)
	}
	takes(ahead, 0, "tried by the other machine")
	passes("1 minute")
	held = takes(ahead, 1, "after the wait")
	takes(right, 0, "held by the machine that is ahead")
	if err := ahead.Fail(t.Context(), held[0], "away", time.Minute); err != nil {
		t.Fatal(err)
	}
	takes(right, 0, "tried by the machine that is ahead")
	passes("1 minute")
	takes(right, 1, "after its wait")
	passes("60 seconds")
	takes(right, 1, "after the end of the lease")
	if err := ahead.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	takes(right, 1, "taken over")
}

// TestInbox_HastenEndsWaitsThatAreTooLong: the database's clock is put back by hours.
func TestInbox_HastenEndsWaitsThatAreTooLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause  string
		wait   time.Duration
		back   string
		leased bool
		want   int
	}{
		"tried before":                       {"away", 15 * time.Second, "3 hours", false, 1},
		"held by a program that ended":       {"away", time.Second, "3 hours", true, 1},
		"the longest wait, a clock as it is": {"away", 5 * time.Minute, "0 seconds", false, 0},
		"a patient cause":                    {"unknown", time.Hour, "0 seconds", false, 0},
		"a missing key":                      {"cannot be read", time.Hour, "0 seconds", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			stored := callback()
			must[uuid.UUID](t)(k.Inbox.Store(t.Context(), stored))
			if err := k.Inbox.Fail(t.Context(), take(t, k, stored)[0], c.cause, c.wait); err != nil {
				t.Fatal(err)
			}
			if c.leased {
				k.clock.Advance(c.wait)
				take(t, k, stored)
			}
			k.exec(t, `update {schema}.callbacks set due_at = due_at + interval '`+c.back+`'`)
			take(t, k)
			if err := k.Inbox.Hasten(t.Context(), 5*time.Minute, "unknown"); err != nil {
				t.Fatal(err)
			}
			if taken := must[[]vault.TakenCallback](t)(k.Inbox.Take(t.Context(), 10)); len(taken) != c.want {
				t.Errorf("%d taken, want %d", len(taken), c.want)
			}
		})
	}
}

// TestInbox_AMachineOfAnotherYearPurgesNoMoneyThatWaits: its battery is empty, or its clock was set by hand.
func TestInbox_AMachineOfAnotherYearPurgesNoMoneyThatWaits(t *testing.T) {
	t.Parallel()
	k := open(t)
	c := callback()
	c.ReceivedAt = time.Time{}
	must[uuid.UUID](t)(k.inboxOf(t, 0).Store(t.Context(), c))
	if err := k.inboxOf(t, off(365*24*time.Hour)).Purge(t.Context(), vault.InboxKept, vault.InboxWaits); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, `select count(*) from {schema}.callbacks`); n != 1 {
		t.Errorf("%d callbacks are left", n)
	}
}
