package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// carry brings a balance from another system along.
func carry(minor int64) commands.CarryBalanceOver {
	return commands.CarryBalanceOver{SubscriberID: subscriber, OrgID: org, Amount: kes(minor), DueOn: dueOn(1)}
}

func TestCarriedBalance_IsPaidByTheMoneyThatComes(t *testing.T) {
	t.Parallel()
	l := given(t, carry(700_00))
	if s := l.State(); s.Balance() != kes(700_00) || s.Due() != kes(700_00) {
		t.Fatalf("balance %s", s.Balance())
	}
	l.When(carry(700_00)).ThenNothing() // once
	l.When(carry(-10_00)).ThenNothing()
	l.closed()
	l.When(carry(700_00)).ThenNothing()
	l.do(credit(1, 1000_00))
	if s := l.State(); s.Due().Positive() || s.Credit() != kes(300_00) {
		t.Errorf("due %s, credit %s", s.Due(), s.Credit())
	}
	l.closed()
}

func TestCarriedBalance_PaidAheadPaysTheNextInvoice(t *testing.T) {
	t.Parallel()
	l := given(t, carry(-700_00))
	if s := l.State(); s.Credit() != kes(700_00) || s.Balance() != kes(-700_00) {
		t.Fatalf("credit %s", s.Credit())
	}
	l.When(carry(-700_00)).ThenNothing()
	l.closed()
	l.do(draft(1, 500_00, 5))
	l.do(issue(1))
	if s := l.State(); s.Due().Positive() || s.Credit() != kes(200_00) {
		t.Errorf("due %s, credit %s", s.Due(), s.Credit())
	}
	given(t).When(carry(0)).ThenNothing()
}

// TestCarriedBalance_IsVoidedAlthoughItHasNoNumber: as when the import that brought it is taken back.
func TestCarriedBalance_IsVoidedAlthoughItHasNoNumber(t *testing.T) {
	t.Parallel()
	l := given(t, carry(500_50))
	void := commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: events.CarriedDebt(subscriber), Reason: "the wrong file",
		ReleaseMoney: true,
	}
	l.do(void)
	if s := l.State(); s.Balance() != kes(0) || s.Due().Positive() {
		t.Errorf("balance %s, due %s", s.Balance(), s.Due())
	}
	l.When(void).ThenNothing()
	l.When(carry(500_50)).ThenNothing()
	l.closed()
}
