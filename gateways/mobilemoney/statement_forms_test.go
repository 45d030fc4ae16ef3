package mobilemoney_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// form reads a committed statement. All persons and businesses in these files are invented.
func form(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", "statements", name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReadStatement_EachFormOfThePortalIsRead: what each row is, who paid and what they typed, from columns or prose.
func TestReadStatement_EachFormOfThePortalIsRead(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"older.csv": `charge TESTA00001 SP   
payment TESTA00001 25470****111 ALICE **** EXAMPLE 10000008 
prompt TESTA00002 254700000222 BOB SAMPLE 10000008 
payment TESTA00003 010****333 carol fiction 10000008 
payment TESTA00004 070****444 DAVE MADEUP 750122 
reversal TESTA00005 070****444 DAVE MADEUP  TESTA00004
loan TESTA00006 999003 MOCK BANK LTD  
own_transfer TESTA00007    
payout TESTA00008 25470****555 ERIN PLACEHOLDER  
business TESTA00009 999001 TEST BANK TO PAYBILL 10000008 
unknown TESTA00010    
failed TESTA00011 25470****666 FRANK NOBODY 10000008 
`,
		"newer.csv": `withdrawal TESTN00012    
own_transfer TESTN00011    
own_transfer TESTN00011    
own_transfer TESTN00010    
own_transfer TESTN00010    
reversal TESTN00009    TESTN00008
payment TESTN00008 07****444 DAVE MADEUP 750122 
loan TESTN00007    
business TESTN00006 999002 MOCK BANK LTD - BANK TO TILL 10000008 
business TESTN00005 1234567 FAKE AUTO TECH 10000008 
payment TESTN00003 2547****333 CAROL FICTION  
prompt TESTN00002 254700000222 Bob Sample bob shop 
payment TESTN00001 2547****111 ALICE EXAMPLE 10000008 
`,
		"plain.csv": `payment TESTP00001   10000008 
unknown TESTP00002    
`,
		"month_first.csv": `payment TESTM00001 254700000111 ALICE EXAMPLE 10000008 
payment TESTM00002 254700000222 BOB SAMPLE 10000008 
`,
	} {
		s, err := mobilemoney.ReadStatement(form(t, name), column.AnyOrder)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b strings.Builder
		for _, l := range s.Lines {
			b.WriteString(strings.Join([]string{
				string(l.Kind), l.ReceiptNumber, l.Party.Number, l.Party.Name, l.AccountRef,
				strings.Join(l.Names(), ","),
			}, " ") + "\n")
			if !strings.HasPrefix(l.CompletedAt.Format("2006-01-02"), "2026-03-") {
				t.Errorf("%s: %s was at %s", name, l.ReceiptNumber, l.CompletedAt)
			}
		}
		if b.String() != want {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// TestReadStatement_TitlesAreComparedByMeaning, and a currency that is not the paybill's is refused.
func TestReadStatement_TitlesAreComparedByMeaning(t *testing.T) {
	t.Parallel()
	row := "\nSJK4X7Q2P1,2026-03-16 14:05:33,Pay Bill,1500,0.00,10000008\n"
	for _, header := range []string{
		"Receipt No.,Completion Time,Details,Paid In,Withdrawn,A/C No.",
		"RECEIPT NO,completion_time,DETAILS,PAID IN (KSHs),WITHDRAWN (KSHs),Account Number",
		"\ufeffReceipt\u00a0No.,Completion\u200b Time, Details ,Paid In [KES],Withdrawn(Ksh.),Account No.",
	} {
		s, err := mobilemoney.ReadStatement([]byte(header+row), column.AnyOrder)
		if err != nil || len(s.Lines) != 1 || s.Lines[0].PaidIn.Minor != 1500_00 ||
			s.Lines[0].AccountRef != "10000008" {
			t.Errorf("%q: %+v, %v", header, s.Lines, err)
		}
	}
	for _, file := range []string{
		"Receipt No.,Completion Time,Details,Paid In (USD),Withdrawn (USD),A/C No." + row,
		"Receipt No.,Completion Time,Details,Paid In,Withdrawn,Currency\n" +
			"SJK4X7Q2P1,2026-03-16 14:05:33,Pay Bill,1,,USD\n",
	} {
		if _, err := mobilemoney.ReadStatement([]byte(file), column.AnyOrder); failure.KindOf(err) != failure.Invalid {
			t.Errorf("money of another currency is read as shillings: %v", err)
		}
	}
}

// TestReadStatement_DatesThatMeanTwoDaysAreAskedAbout, until a row decides or the sender chooses.
func TestReadStatement_DatesThatMeanTwoDaysAreAskedAbout(t *testing.T) {
	t.Parallel()
	const header = "Receipt No.,Completion Time,Details,Paid In,Withdrawn,A/C No.\n"
	line := func(n, day string) string { return "SJK4X7Q2P" + n + "," + day + " 14:05:33,Pay Bill,1,,1\n" }
	file := []byte(header + line("1", "05/11/2026"))
	_, err := mobilemoney.ReadStatement(file, column.AnyOrder)
	var asked *failure.Error
	if !errors.As(err, &asked) || asked.Code != "date_order_needed" || asked.Details["row"] != 2 ||
		asked.Details["date"] != "05/11/2026" {
		t.Errorf("no row decides: %v, %+v", err, asked)
	}
	for order, want := range map[column.DateOrder]string{"dmy": "2026-11-05", "mdy": "2026-05-11"} {
		s, err := mobilemoney.ReadStatement(file, order)
		if err != nil || s.First.Format("2006-01-02") != want {
			t.Errorf("%s chosen: %s, %v", order, s.First, err)
		}
	}
	for _, c := range []struct {
		rows  string
		order column.DateOrder
	}{
		{line("1", "31/05/2026") + line("2", "05/31/2026"), column.AnyOrder},
		{line("1", "31/05/2026"), column.MonthFirst}, {line("1", "05/11/26"), column.DayFirst},
		{line("1", "2026-02-30"), column.AnyOrder},
	} {
		_, err := mobilemoney.ReadStatement([]byte(header+c.rows), c.order)
		if failure.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("%q as %q: %v", c.rows, c.order, err)
		}
	}
}

// TestReadStatement_KindsAreReadFromTheProvidersWords, on the side of the money that fits, or not at all.
func TestReadStatement_KindsAreReadFromTheProvidersWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		details, reason string
		in, out         mobilemoney.LineKind
	}{
		{"Pay Bill", "", mobilemoney.LinePayment, mobilemoney.LineUnknown},
		{"Pay Bill to 600200 - SHOP Acc. 1", "", mobilemoney.LineUnknown, mobilemoney.LinePayout},
		{"Pay Bill Online Fuliza M-Pesa from 0700000111 - A", "", mobilemoney.LinePrompt, mobilemoney.LineUnknown},
		{"Standing Order Pay Bill from 2547****111 - A", "", mobilemoney.LinePayment, mobilemoney.LineUnknown},
		{"Merchant Payment from LOAN REVERSAL 0700 000111", "", mobilemoney.LinePayment, mobilemoney.LineUnknown},
		{"Pay Bill from 254700000111 - LOAN Acc. Reversal", "", mobilemoney.LinePayment, mobilemoney.LineUnknown},
		{"Pay Bill from 600200 - SHOP Acc. 1", "", mobilemoney.LineBusiness, mobilemoney.LineUnknown},
		{"Pay Bill from 254700000111 - A", "Loan Disbursement", mobilemoney.LineUnknown, mobilemoney.LineUnknown},
		{"", "Pay Utility with OD via STK", mobilemoney.LinePrompt, mobilemoney.LineUnknown},
		{"Lipa", "Pay Utility", mobilemoney.LinePayment, mobilemoney.LineUnknown},
		{"Lipa", "", mobilemoney.LineUnknown, mobilemoney.LineUnknown},
		{"Loan Disbursement", "", mobilemoney.LineLoan, mobilemoney.LineLoan},
		{"OD Loan Repayment to 232323 - M-PESA Overdraw", "", mobilemoney.LineLoan, mobilemoney.LineLoan},
		{"Funds Transfer from Working Account", "", mobilemoney.LineOwnTransfer, mobilemoney.LineOwnTransfer},
		{"Merchant to Utility Account", "", mobilemoney.LineOwnTransfer, mobilemoney.LineOwnTransfer},
		{"Organization Settlement", "", mobilemoney.LineOwnTransfer, mobilemoney.LineWithdrawal},
		{"Organization Settle to Bank", "", mobilemoney.LineUnknown, mobilemoney.LineWithdrawal},
		{"Salary Payment to 254700000111 - A", "", mobilemoney.LineUnknown, mobilemoney.LinePayout},
		{"Business Payment to Customer via API", "", mobilemoney.LineUnknown, mobilemoney.LinePayout},
		{"Promotion Payment via API", "", mobilemoney.LineUnknown, mobilemoney.LinePayout},
		{"Pay Bill Reversal", "Pay Utility", mobilemoney.LineReversal, mobilemoney.LineReversal},
		{"Business Pay Bill Charge", "Pay Utility", mobilemoney.LineCharge, mobilemoney.LineCharge},
		{"Withdrawal of funds", "", mobilemoney.LineUnknown, mobilemoney.LineWithdrawal},
	} {
		for side, want := range map[string]mobilemoney.LineKind{"10,": c.in, ",-10": c.out} {
			s, err := mobilemoney.ReadStatement([]byte("Receipt No.,Completion Time,Details,Reason Type,Paid In,"+
				"Withdrawn\nSJK4X7Q2P5,2026-03-16 14:05:33,"+c.details+","+c.reason+","+side+"\n"), column.AnyOrder)
			if err != nil {
				t.Fatal(c.details, err)
			}
			if got := s.Lines[0].Kind; got != want {
				t.Errorf("%q because of %q, %s: %s, want %s", c.details, c.reason, side, got, want)
			}
		}
	}
}

// TestReadStatement_ALinkedTransactionIsNamedByAReversalAlone, beside the number in its details.
func TestReadStatement_ALinkedTransactionIsNamedByAReversalAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ details, linked, want string }{
		{"Reversal of SJK4X7Q2P1", "", "SJK4X7Q2P1"}, {"Pay Utility Reversal", "sjk4x7q2p1", "SJK4X7Q2P1"},
		{"Reversal of SJK4X7Q2P1", "SJK4X7Q2P1", "SJK4X7Q2P1"},
		{"Reversal of SJK4X7Q2P1", "SJK4X7Q2P2", "SJK4X7Q2P1 SJK4X7Q2P2"}, {"Pay Utility Reversal", "-", ""},
		{"Pay Utility Reversal", "0", ""}, {"Pay Utility Reversal", "SJK4X7Q2P5", ""},
		{"Business Payment to bank", "SJK4X7Q2P1", ""},
	} {
		s, err := mobilemoney.ReadStatement([]byte("Receipt No.,Completion Time,Details,Linked Transaction ID,Paid In,"+
			"Withdrawn\nSJK4X7Q2P5,2026-03-16 14:05:33,"+c.details+","+c.linked+",,-10\n"), column.AnyOrder)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Lines[0].Names(), " "); got != c.want {
			t.Errorf("%q with %q names %q, want %q", c.details, c.linked, got, c.want)
		}
	}
}
