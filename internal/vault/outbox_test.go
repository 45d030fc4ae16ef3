package vault_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

func TestOutbox_KeepsEachMessageOnceUntilItIsForgottenOrOld(t *testing.T) {
	t.Parallel()
	k := open(t)
	acme, who := id.New[id.Organization](), id.New[id.Subscriber]()
	now := k.clock.Now()
	put := func(m vault.OutboxMessage) {
		t.Helper()
		m.ID = id.Derive[id.Message]("test", m.Text)
		for range 2 { // a repeat keeps nothing again
			if err := k.Outbox.Put(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func(org id.Organization, to string) (texts string) {
		t.Helper()
		rows, err := k.Outbox.List(t.Context(), org, to, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			texts += r.Text
		}
		return texts
	}
	put(vault.OutboxMessage{Org: acme, Subscriber: who, At: now, Channel: "sms", To: "+254711000001", Text: "a"})
	put(vault.OutboxMessage{At: now.Add(time.Second), Channel: "email", To: "ada@example.com", Text: "b"})
	put(vault.OutboxMessage{Org: acme, At: now.Add(-vault.OutboxKept - time.Hour), Channel: "sms", To: "+1", Text: "c"})
	wished := now.Add(-time.Hour - time.Second)
	put(vault.OutboxMessage{At: wished, Channel: "sms", To: "+2", Template: "address_code", Text: "d"})
	put(vault.OutboxMessage{At: wished, Channel: "sms", To: "+3", Template: "sign_in_code", Text: "e"})
	for _, c := range []struct {
		org      id.Organization
		to, want string
	}{
		{id.Organization{}, "", "baedc"}, {acme, "", "ac"}, {acme, "254711000001", "a"},
		{acme, "+254711000001", "a"}, {id.New[id.Organization](), "", ""}, {id.Organization{}, "ada@example.com", "b"},
	} {
		if got := list(c.org, c.to); got != c.want {
			t.Errorf("messages %q, want %q", got, c.want)
		}
	}
	if err := k.Outbox.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := k.Outbox.Forget(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	if got := list(id.Organization{}, ""); got != "be" {
		t.Errorf("messages %q are left", got)
	}
}
