package paymentsjobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// vaultExec executes statements on the vault's tables.
func (k *kit) vaultExec(t *testing.T, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		sql = strings.ReplaceAll(sql, "{schema}", k.DB.Namespace.Schema("vault"))
		if _, err := k.DB.Owner.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// inboxRefuses lets the inbox's table refuse rows with a code of PostgreSQL, those of a kind alone unless it is "".
func (k *kit) inboxRefuses(t *testing.T, code, kind string) {
	t.Helper()
	k.vaultExec(t, fmt.Sprintf(`create or replace function {schema}.refuse() returns trigger language plpgsql as $$begin
		if '%s' in ('', new.kind) then raise 'refused' using errcode = '%s'; end if;
		return new;
	end$$`, kind, code), `drop trigger if exists refuse on {schema}.callbacks`,
		`create trigger refuse before insert on {schema}.callbacks for each row execute function {schema}.refuse()`)
}

// soon waits for a change that nothing reports, for a minute at most.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		loop.Sleep(t.Context(), 10*time.Millisecond)
	}
	t.Fatal("never " + what)
}

// TestKept_WhateverTheInboxDoesNotTakeIsCreditedOnce: the database answers and takes other writes.
func TestKept_WhateverTheInboxDoesNotTakeIsCreditedOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	r := k.opened(t, t.TempDir(), false)
	var numbers []string
	confirm := func(when string) {
		t.Helper()
		number := fmt.Sprintf("SJK4X7QF%02d", len(numbers))
		numbers = append(numbers, number)
		if err := r.confirms(t, token, "196.201.214.200", number); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if r.Kept.Len() != len(numbers) || r.Kept.Money() != int64(len(numbers)) {
			t.Errorf("%s: %d of %d are on the disk, %d keep cuts waiting", when, r.Kept.Len(), len(numbers),
				r.Kept.Money())
		}
	}
	for _, code := range []string{
		"22021", "23502", "42501", "40001", "40P01", "55P03", "XX001", "54000", "P0001", "0A000", "26000",
	} {
		k.inboxRefuses(t, code, "")
		confirm(code)
	}
	k.vaultExec(t, `drop trigger refuse on {schema}.callbacks`, `alter table {schema}.callbacks rename to away`)
	confirm("without a table")
	k.vaultExec(t, `alter table {schema}.callback_secrets rename to secrets_away`)
	confirm("without tokens")
	k.vaultExec(t, `alter table {schema}.secrets_away rename to callback_secrets`)
	if err := r.confirms(t, token, "196.201.214.200", numbers[0]); err != nil { // the provider repeats itself
		t.Fatal(err)
	}
	if err := r.Kept.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon(t, "told", func() bool { return r.Kept.Fault() != "" })
	k.vaultExec(t, `alter table {schema}.away rename to callbacks`)
	k.waiting(t, r, int64(len(numbers))+1)
	soon(t, "not told any more", func() bool { return r.Kept.Fault() == "" })
	for range len(numbers) {
		if _, err := k.workers.HandleDue(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, number := range numbers {
		if s := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, number)); s.Amount.Minor != 150_000 {
			t.Errorf("receipt %s: %+v", number, s)
		}
	}
}

// TestKept_APanicOfTheReceiverIsNoAnswer: the money is on the disk, and in the inbox later.
func TestKept_APanicOfTheReceiverIsNoAnswer(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	r := k.keeping(t, t.TempDir(), false)
	_, err := r.Receive(t.Context(), paymentsjobs.CallbackConfirmation, k.paybillToken(t), "196.201.214.200",
		paid("SJK4X7QG01", shortcode, "x", 1500), func(string) error { panic("a fault") })
	if err != nil {
		t.Fatal(err)
	}
	k.waiting(t, r, 1)
}

// TestKept_OurOwnVerdictIsTheAnswer: nothing of it is on the disk.
func TestKept_OurOwnVerdictIsTheAnswer(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	r := k.opened(t, t.TempDir(), false)
	limited := failure.NewLimited("rate_limited", "Too many requests. Please wait.", time.Second)
	_, err := r.Receive(t.Context(), paymentsjobs.CallbackConfirmation, "invented", "198.51.100.7",
		paid("SJK4X7QH01", shortcode, "x", 1500), func(string) error { return limited })
	if failure.CodeOf(err) != "rate_limited" || r.Kept.Len() != 0 {
		t.Errorf("%d on the disk, %v", r.Kept.Len(), err)
	}
}

// TestKept_OneThatTheInboxRefusesKeepsNobodyElseOut: a result of a prompt came first, and its row is refused.
func TestKept_OneThatTheInboxRefusesKeepsNobodyElseOut(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.paybillToken(t)
	r := k.keeping(t, t.TempDir(), true)
	r.reports(t)
	for i := range 3 {
		if err := r.confirms(t, token, "196.201.214.200", fmt.Sprintf("SJK4X7QI%02d", i)); err != nil {
			t.Fatal(err)
		}
	}
	k.inboxRefuses(t, "XX001", paymentsjobs.CallbackPrompt)
	r.away.Store(false)
	soon(t, "past the first one", func() bool { return r.Kept.Len() == 1 })
	n, _, err := k.Vault.Inbox.Count(t.Context(), paymentsjobs.CauseUnknownPrompt)
	if err != nil || n != 3 || r.Kept.Fault() != "" {
		t.Errorf("%d of 3 confirmations are in the inbox: %v, %q", n, err, r.Kept.Fault())
	}
	k.vaultExec(t, `drop trigger refuse on {schema}.callbacks`)
	k.waiting(t, r, 4)
}
