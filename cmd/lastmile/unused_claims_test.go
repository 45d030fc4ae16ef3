package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// claimedButKilled reserves a username for a subscription of acme that never begins, as a program does that is killed
// between the two.
func (k *kit) claimedButKilled(username string, at time.Time) {
	k.t.Helper()
	org, err := id.Parse[id.Organization](k.org())
	if err != nil {
		k.t.Fatal(err)
	}
	key := k.app.storage.vault.ClaimKey("username", username)
	_, err = k.app.storage.store.Append(k.t.Context(), commands.At(commands.ClaimCategory, key).Stream(),
		eventstore.NoStream, []eventstore.New{{
			Event: events.ClaimTaken{Kind: "username", OwnerCategory: "subscription", Owner: id.New[id.Any]()},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(key), OrgID: org,
				Actor: events.Actor{Kind: events.ActorUser}, At: at,
			},
		}})
	if err != nil {
		k.t.Fatal(err)
	}
}

// usernameKey is the key under which a username is reserved, by which the process of claims knows it, too.
func (k *kit) usernameKey(username string) string {
	return k.app.storage.vault.ClaimKey("username", username).String()
}

// unusedClaims counts what `doctor books` says of acme's reserved values without an owner.
func (k *kit) unusedClaims() (n int) {
	k.t.Helper()
	org, err := id.Parse[id.Organization](k.org())
	if err != nil {
		k.t.Fatal(err)
	}
	doctor := newDoctor(k.app.storage, k.app.clock)
	doctor.Patience = 0
	err = doctor.Check(k.t.Context(), []id.Organization{org}, func(r bookscases.Report) error {
		for _, f := range r.Faults {
			if f.Code == bookscases.ClaimWithoutOwner {
				n++
			}
		}
		return r.Err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return n
}

// processesOf lists the keys of the instances of a process that have not ended.
func (k *kit) processesOf(name string) (keys []string) {
	k.t.Helper()
	db := k.app.storage.db
	err := db.Owner.QueryRow(k.t.Context(), `select coalesce(array_agg(key order by key), '{}') from `+
		db.Namespace.Schema("processes")+`.instances where process = $1 and not ended`, name).Scan(&keys)
	if err != nil {
		k.t.Fatal(err)
	}
	return keys
}

func TestUnusedClaims_OfAKilledRequestEndByThemselves(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.claimedButKilled("amina", k.programTime())
	if n := k.unusedClaims(); n != 1 {
		t.Fatalf("%d values without an owner before, want 1", n)
	}
	k.eventually("claims to be followed", func(context.Context) (bool, error) {
		return slices.Contains(k.processesOf("claims"), k.usernameKey("amina")), nil
	})
	k.advance(map[string]any{"advance": "5m"})
	k.eventually("no instance that waits", func(context.Context) (bool, error) {
		return len(k.processesOf("claims")) == 0, nil
	})
	k.soundBooks()
}

// TestUnusedClaims_OfAnOlderProgramEndToo: the process is new to a log with claims.
func TestUnusedClaims_OfAnOlderProgramEndToo(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.start().signIn()
	k.claimedButKilled("brian", now.Now())
	k.eventually("claims to be followed", func(context.Context) (bool, error) {
		return slices.Contains(k.processesOf("claims"), k.usernameKey("brian")), nil
	})
	k.app.Stop()
	for table, column := range map[string]string{
		"instances": "process", "timers": "process", "commands": "process", "processes": "name",
	} {
		if _, err := k.db.Owner.Exec(t.Context(), `delete from `+k.db.Namespace.Schema("processes")+`.`+table+
			` where `+column+` = 'claims'`); err != nil {
			t.Fatal(err)
		}
	}
	now.Advance(60 * 24 * time.Hour)
	k.start()
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.soundBooks()
	k.eventually("no instance that waits", func(context.Context) (bool, error) {
		return len(k.processesOf("claims")) == 0, nil
	})
}
