package vault_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// rowsOf gives the vault one of each sealed row that belongs to an organization, or to none, all with the same text.
func (k kit) rowsOf(t *testing.T, org id.Organization, text string) {
	t.Helper()
	ctx := t.Context()
	mark := must[vault.Mark](t)(k.Idempotency.Begin(ctx, scopeOf(org), []byte("body")))
	callback := must[uuid.UUID](t)(k.Inbox.Store(ctx, vault.Callback{
		Kind: "c2b_confirmation", OrgID: org, Shortcode: "600777", Verified: true, Body: []byte(text),
	}))
	taken := must[[]vault.TakenCallback](t)(k.Inbox.Take(ctx, 10))
	if len(taken) != 1 || taken[0].ID != callback {
		t.Fatalf("took %v", taken)
	}
	kept := vault.StatementOf{ID: id.New[id.Reconciliation](), OrgID: org, Shortcode: "600777"}
	for what, err := range map[string]error{
		"answer":    k.Idempotency.Complete(ctx, mark, vault.Answer{Status: 200, Body: []byte(text)}),
		"callback":  k.Inbox.Done(ctx, taken[0]),
		"statement": k.Statements.Put(ctx, kept, []byte(text)),
		"outcome":   k.Statements.PutOutcome(ctx, kept, []byte(text)),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for _, address := range []string{"+254711000077", "+254711000078"} {
		must[id.Any](t)(k.Codes.Ask(ctx, vault.CodeWish{OrgID: org, Channel: "sms", Address: address}))
		if err := k.Outbox.Put(ctx, vault.OutboxMessage{
			ID: id.New[id.Message](), Org: org, At: k.clock.Now(), Channel: "sms", To: address, Text: "123456",
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// scopeOf is that of the only key of an organization.
func scopeOf(org id.Organization) vault.Scope {
	return vault.Scope{OrgID: org, Parts: []string{"caller", org.String()}}
}

// left says what of rowsOf is there still.
func (k kit) left(t *testing.T, org id.Organization) string {
	t.Helper()
	answer := must[vault.Mark](t)(k.Idempotency.Begin(t.Context(), scopeOf(org), []byte("body"))).Answer.Status
	out := []string{fmt.Sprint(answer)}
	for _, table := range []string{"callbacks", "statements", "statement_outcomes", "codes", "outbox"} {
		out = append(out, fmt.Sprint(k.count(t,
			"select count(*) from {schema}."+table+" where org_id is not distinct from $1", org)))
	}
	return strings.Join(out, " ")
}

// TestSweep_LeavesAllOtherOrganizationsAlone: whatever the traces fit, nothing of another organization goes; what
// belongs to none goes by the shared traces alone, and a second sweep changes nothing more.
func TestSweep_LeavesAllOtherOrganizationsAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	acme, beta, nobody := id.New[id.Organization](), id.New[id.Organization](), id.Organization{}
	for _, org := range []id.Organization{acme, beta, nobody} {
		k.rowsOf(t, org, `{"id":"1"}`)
	}
	anything := func([]byte) bool { return true }
	shared := false
	of := vault.Traces{
		OrgID: acme, Own: anything, Files: true, Answer: vault.Answer{Status: 409},
		Shared: func(_ []byte, shortcode string) bool {
			return shared && (shortcode == "600777" || shortcode == "")
		},
		Addresses:       map[string]bool{"+254711000077": true},
		SharedAddresses: map[string]bool{},
	}
	sweep := func(ownList, sharedList []string) {
		t.Helper()
		if err := k.Sweep(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		if err := k.Outbox.ForgetAddresses(t.Context(), acme, ownList, sharedList); err != nil {
			t.Fatal(err)
		}
	}
	own := []string{"+254711000077"}
	sweep(own, nil)
	for org, want := range map[id.Organization]string{
		acme: "409 0 0 0 1 1", beta: "200 1 1 1 2 2", nobody: "200 1 1 1 2 2",
	} {
		if got := k.left(t, org); got != want {
			t.Errorf("left %s, want %s", got, want)
		}
	}
	shared, of.SharedAddresses = true, of.Addresses
	sweep(own, own)
	if got := k.left(t, beta); got != "200 1 1 1 2 2" {
		t.Errorf("of the other organization is left %s", got)
	}
	if got := k.left(t, nobody); got != "409 0 0 0 1 1" {
		t.Errorf("of no organization's is left %s", got)
	}
}

// TestSweep_NoStatementComesBack: somebody uploads one again while it is looked at, and what it was compared with is
// known only when it has gone.
func TestSweep_NoStatementComesBack(t *testing.T) {
	t.Parallel()
	k, org := open(t), id.New[id.Organization]()
	kept := vault.StatementOf{ID: id.New[id.Reconciliation](), OrgID: org, Shortcode: "600777"}
	text, again := []byte("names the person"), 2
	put := func() {
		t.Helper()
		if err := k.Statements.Put(t.Context(), kept, text); err != nil {
			t.Fatal(err)
		}
	}
	put()
	err := k.Sweep(t.Context(), vault.Traces{
		OrgID: org, Shared: func([]byte, string) bool { return false },
		Own: func(seen []byte) bool {
			if again > 0 {
				again--
				put()
			}
			return bytes.Equal(seen, text)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Statements.PutOutcome(t.Context(), kept, text); err != nil {
		t.Fatal(err)
	}
	file, err := k.Statements.Get(t.Context(), kept.ID)
	if err != nil || file != nil || again > 0 {
		t.Errorf("the statement is there still: %q, %v", file, err)
	}
	if outcome, err := k.Statements.Outcome(t.Context(), kept.ID); err != nil || outcome != nil {
		t.Errorf("its outcome is kept: %q, %v", outcome, err)
	}
}

// TestSweep_ReadsFilesByLines: a word that two parts share is found whole, and is none where it only ends a part; a
// line without an end takes no more memory than it may.
func TestSweep_ReadsFilesByLines(t *testing.T) {
	t.Parallel()
	k := open(t)
	org, other := id.New[id.Organization](), id.New[id.Organization]()
	seen := 0
	names := func(text []byte) bool {
		seen = max(seen, len(text))
		for line := range bytes.Lines(text) {
			if bytes.Equal(bytes.TrimSpace(line), []byte("10023")) {
				return true
			}
		}
		return false
	}
	file := func(of id.Organization, parts ...string) vault.File {
		t.Helper()
		f := vault.File{ID: id.New[id.File](), OrgID: of, Ends: k.clock.Now().Add(time.Hour)}
		for n, part := range parts {
			if err := k.Files.Put(t.Context(), f, n, []byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		return f
	}
	cut := file(org, "1\n100", "23\n4\n")
	longer := file(org, "1\n10023", "9\n4\n")
	last := file(org, "1\n", "10023")
	endless := file(org, strings.Repeat("x", 1<<20), strings.Repeat("y", 1<<20))
	foreign := file(other, "10023\n")
	if err := k.Sweep(context.WithoutCancel(t.Context()), vault.Traces{
		OrgID: org, Own: names, Shared: func([]byte, string) bool { return false }, Files: true,
	}); err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]struct {
		file vault.File
		gone bool
	}{
		"cut": {cut, true}, "longer": {longer, false}, "last": {last, true}, "endless": {endless, false},
		"foreign": {foreign, false},
	} {
		if _, err := k.Files.Get(t.Context(), f.file.OrgID, f.file.ID, 0); (err != nil) != f.gone {
			t.Errorf("%s: %v", what, err)
		}
	}
	if seen > 1<<20+1<<17 {
		t.Errorf("%d octets at once", seen)
	}
}
