package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// The prefixes of the bill manager in the sandbox and in production, where it is doubled, and how many bills a batch
// has at most. Source: docs/facts/mobile-money.md#bill-manager.
const (
	billsSandbox    = "/v1/billmanager-invoice/"
	billsProduction = billsSandbox + "v1/billmanager-invoice/"
	maxBatch        = 1000
)

// Codes of the bill manager's answers.
const (
	billDone    = "200"
	billInvalid = "400"
	billNoKey   = "401"
	billNone    = "404"
	billAgain   = "409"
)

// reminderDays are the days before the due date on which the bill manager reminds.
var reminderDays = []int{7, 3, 0}

// Bill is one that the bill manager took, in the form of GET /sim/bills.
type Bill struct {
	Reference        string    `json:"externalReference"`
	Name             string    `json:"billedFullName"`
	Phone            string    `json:"billedPhoneNumber"`
	Period           string    `json:"billedPeriod"`
	InvoiceName      string    `json:"invoiceName"`
	DueDate          string    `json:"dueDate"`
	AccountReference string    `json:"accountReference"`
	Amount           Amount    `json:"amount"`
	ShortCode        string    `json:"shortCode"`
	State            string    `json:"state"` // "open", "cancelled" or "paid"
	Sent             int       `json:"sent"`  // how often it was handed over
	At               time.Time `json:"at"`
}

// BillReceipt is an electronic receipt that the bill manager sent to a customer.
type BillReceipt struct {
	TransactionID string `json:"transactionId"`
	Reference     string `json:"externalReference"`
	Amount        Amount `json:"paidAmount"`
}

// BillReminder is a reminder that the bill manager sends to a customer on a day.
type BillReminder struct {
	Reference string `json:"externalReference"`
	Day       string `json:"day"`
	Before    int    `json:"before"` // days before the due date
}

// optedIn is a shortcode that the bill manager knows.
type optedIn struct {
	appKey, callbackURL string
	reminders           bool
}

// billBook is the state of the bill manager. It has no view on what a repeated reference means: another bill of one is
// taken, too, and Sent counts it, so that a test can see what was sent twice.
type billBook struct {
	shortcodes map[string]optedIn
	bills      map[string]*Bill // by reference
	order      []*Bill          // oldest first
	receipts   []BillReceipt
	calls      map[string]int // by operation, and by path
}

// newBillBook knows no shortcode.
func newBillBook() billBook {
	return billBook{shortcodes: map[string]optedIn{}, bills: map[string]*Bill{}, calls: map[string]int{}}
}

// routeBills adds the paths of the bill manager under both prefixes: a simulator does not know for which environment of
// the provider its callers take it.
func (s *Simulator) routeBills(mux *http.ServeMux) {
	for _, prefix := range []string{billsSandbox, billsProduction} {
		add := func(operation string, handle http.HandlerFunc) {
			mux.HandleFunc("POST "+prefix+operation, s.faulty(s.authorised(s.counted(prefix, operation, handle))))
		}
		add("optin", s.optIn)
		add("single-invoicing", s.keyed(s.takeBill))
		add("bulk-invoicing", s.keyed(s.takeBatch))
		add("cancel-single-invoice", s.keyed(s.cancelBill))
		add("reconciliation", s.keyed(s.acknowledgeBill))
	}
	mux.HandleFunc("GET /sim/bills", show(func() any { return s.Bills() }))
	mux.HandleFunc("GET /sim/bills/receipts", show(func() any { return s.BillReceipts() }))
	mux.HandleFunc("GET /sim/bills/reminders", show(func() any { return s.BillReminders() }))
	mux.HandleFunc("POST /sim/bills/pay", control(BillPayment{}, func(_ *http.Request, p BillPayment) (any, error) {
		return s.PayBill(p)
	}))
}

// counted notes the calls of an operation, and those of its path.
func (s *Simulator) counted(prefix, operation string, handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.book.bills.calls[operation]++
		s.book.bills.calls[prefix+operation]++
		s.mu.Unlock()
		handle(w, r)
	}
}

// keyed lets a call through that has the key of an opt-in, with its shortcode.
func (s *Simulator) keyed(
	handle func(w http.ResponseWriter, r *http.Request, shortCode string),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, found := r.Header.Get("appKey"), ""
		s.mu.Lock()
		for code, o := range s.book.bills.shortcodes {
			if key != "" && o.appKey == key && !s.book.faults.WrongAppKey {
				found = code
			}
		}
		s.mu.Unlock()
		if found == "" || !s.mayUse(r, found) {
			billAnswer(w, http.StatusOK, billNoKey, "Invalid appKey")
			return
		}
		handle(w, r, found)
	}
}

// billAnswer writes the bill manager's form.
func billAnswer(w http.ResponseWriter, status int, code, words string) {
	answer(w, status, map[string]string{"resmsg": words, "rescode": code})
}

// optIn makes a shortcode known, and gives another key each time.
func (s *Simulator) optIn(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[struct {
		ShortCode   text `json:"shortcode"`
		Email       text `json:"email"`
		Contact     text `json:"officialContact"`
		Reminders   text `json:"sendReminders"`
		CallbackURL text `json:"callbackurl"`
	}](s, w, r)
	if !ok {
		return
	}
	_, err := plainMSISDN(string(q.Contact))
	switch {
	case q.ShortCode == "" || !s.mayUse(r, string(q.ShortCode)):
		billAnswer(w, http.StatusOK, billInvalid, "Invalid shortcode")
		return
	case !strings.Contains(string(q.Email), "@"), err != nil, q.Reminders != "0" && q.Reminders != "1",
		!loopbackURL(string(q.CallbackURL)), forbiddenWord(string(q.CallbackURL)) != "":
		billAnswer(w, http.StatusOK, billInvalid, "Invalid email, officialContact, sendReminders or callbackurl")
		return
	}
	s.mu.Lock()
	if s.book.faults.RefuseOptIn {
		s.mu.Unlock()
		billAnswer(w, http.StatusOK, billInvalid, "Shortcode is not enrolled")
		return
	}
	key := s.book.id("AK-")
	s.book.bills.shortcodes[string(q.ShortCode)] = optedIn{
		appKey: key, callbackURL: string(q.CallbackURL), reminders: q.Reminders == "1",
	}
	s.mu.Unlock()
	answer(w, http.StatusOK, map[string]string{"app_key": key, "resmsg": "Success", "rescode": billDone})
}

// billBody is a bill on the wire.
type billBody struct {
	Reference        text `json:"externalReference"`
	Name             text `json:"billedFullName"`
	Phone            text `json:"billedPhoneNumber"`
	Period           text `json:"billedPeriod"`
	InvoiceName      text `json:"invoiceName"`
	DueDate          text `json:"dueDate"`
	AccountReference text `json:"accountReference"`
	Amount           text `json:"amount"`
	Items            []struct {
		Name   text `json:"itemName"`
		Amount text `json:"amount"`
	} `json:"invoiceItems"`
}

// fault names the first wrong field; "" when all are right.
func (b billBody) fault() string {
	var amount Amount
	_, phone := plainMSISDN(string(b.Phone))
	_, due := time.Parse(time.DateOnly, string(b.DueDate))
	switch {
	case b.Reference == "" || len(b.Reference) > 50:
		return "externalReference"
	case strings.TrimSpace(string(b.Name)) == "":
		return "billedFullName"
	case phone != nil:
		return "billedPhoneNumber"
	case b.Period == "":
		return "billedPeriod"
	case b.InvoiceName == "":
		return "invoiceName"
	case due != nil:
		return "dueDate"
	case b.AccountReference == "" || len(b.AccountReference) > maxBillRef:
		return "accountReference"
	case amount.UnmarshalJSON([]byte(`"`+b.Amount+`"`)) != nil || !amount.Positive():
		return "amount"
	}
	for _, i := range b.Items {
		if i.Name == "" || amount.UnmarshalJSON([]byte(`"`+i.Amount+`"`)) != nil {
			return "invoiceItems"
		}
	}
	return ""
}

// takeBill takes one.
func (s *Simulator) takeBill(w http.ResponseWriter, r *http.Request, shortCode string) {
	if body, ok := decode[billBody](s, w, r); ok {
		s.take(w, shortCode, []billBody{body})
	}
}

// takeBatch takes many, all or none.
func (s *Simulator) takeBatch(w http.ResponseWriter, r *http.Request, shortCode string) {
	list, ok := decode[[]billBody](s, w, r)
	switch {
	case !ok:
	case len(list) == 0 || len(list) > maxBatch:
		billAnswer(w, http.StatusOK, billInvalid, "A batch has 1 to 1000 invoices")
	default:
		s.take(w, shortCode, list)
	}
}

// take keeps bills, as the faults want it.
func (s *Simulator) take(w http.ResponseWriter, shortCode string, list []billBody) {
	s.mu.Lock()
	f := &s.book.faults
	code, late, refused := f.BillRescode, f.LateBillsMs, f.RefuseBillOf
	half := f.TakeHalfOfBatch && len(list) > 1
	lost, working := half || f.LoseBills > 0, f.TakeBillsLateMs
	s.mu.Unlock()
	for _, b := range list {
		fault := b.fault()
		if refused != "" && string(b.AccountReference) == refused {
			fault = "accountReference"
		}
		if fault != "" {
			billAnswer(w, http.StatusOK, billInvalid, "Invalid "+fault)
			return
		}
	}
	if code != "" {
		billAnswer(w, http.StatusOK, code, "The request was refused")
		return
	}
	if working > 0 {
		s.work.Go(func() {
			s.pause(working)
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, b := range list {
				s.book.keep(b, shortCode, s.cfg.Clock.Now())
			}
		})
		panic(http.ErrAbortHandler) // drops the connection while the bills are worked on
	}
	if half {
		list = list[:len(list)/2]
	}
	s.mu.Lock()
	for _, b := range list {
		s.book.keep(b, shortCode, s.cfg.Clock.Now())
	}
	if !half && f.LoseBills > 0 {
		f.LoseBills--
	}
	s.mu.Unlock()
	s.pause(late)
	if lost {
		panic(http.ErrAbortHandler) // drops the connection: nobody learns what was taken
	}
	billAnswer(w, http.StatusOK, billDone, "Success")
}

// pause waits for a fault's time.
func (s *Simulator) pause(ms int) { loop.Sleep(s.run, time.Duration(ms)*time.Millisecond) }

// keep adds a bill, or counts another one of its reference. The lock is held.
func (b *book) keep(body billBody, shortCode string, now time.Time) {
	bill := b.bills.bills[string(body.Reference)]
	if bill == nil {
		bill = &Bill{Reference: string(body.Reference)}
		b.bills.bills[bill.Reference] = bill
		b.bills.order = append(b.bills.order, bill)
	}
	bill.Name, bill.Phone, bill.Period = string(body.Name), string(body.Phone), string(body.Period)
	bill.InvoiceName, bill.DueDate = string(body.InvoiceName), string(body.DueDate)
	bill.AccountReference, bill.ShortCode = string(body.AccountReference), shortCode
	_ = bill.Amount.UnmarshalJSON([]byte(`"` + body.Amount + `"`)) // it was checked
	bill.State, bill.At = "open", now
	bill.Sent++
}

// cancelBill takes a bill back. It does not ask whether the bill was paid.
func (s *Simulator) cancelBill(w http.ResponseWriter, r *http.Request, shortCode string) {
	q, ok := decode[struct {
		Reference text `json:"externalReference"`
	}](s, w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	bill := s.book.bills.bills[string(q.Reference)]
	conflict, late := s.book.faults.CancelConflict, s.book.faults.LateBillsMs
	status, code, words := http.StatusOK, billDone, "Invoice cancelled successfully"
	switch {
	case bill == nil || bill.ShortCode != shortCode:
		status, code, words = http.StatusNotFound, billNone, "Invoice not found"
	case bill.State == "cancelled":
		status, code, words = http.StatusConflict, billAgain, "Invoice already cancelled"
	case bill.State == "open":
		bill.State = "cancelled"
	}
	s.mu.Unlock()
	if conflict && bill != nil {
		status, code, words = http.StatusConflict, billAgain, "Invoice already cancelled"
	}
	s.pause(late)
	billAnswer(w, status, code, words)
}

// acknowledgeBill sends the customer a receipt of a payment, once for each transaction.
func (s *Simulator) acknowledgeBill(w http.ResponseWriter, r *http.Request, _ string) {
	q, ok := decode[struct {
		PaymentDate   text `json:"paymentDate"`
		Amount        text `json:"paidAmount"`
		Account       text `json:"accountReference"`
		TransactionID text `json:"transactionId"`
		Phone         text `json:"phoneNumber"`
		Name          text `json:"fullName"`
		InvoiceName   text `json:"invoiceName"`
		Reference     text `json:"externalReference"`
	}](s, w, r)
	if !ok {
		return
	}
	var amount Amount
	_, date := time.Parse(time.DateOnly, string(q.PaymentDate))
	s.mu.Lock()
	bill := s.book.bills.bills[string(q.Reference)]
	late := s.book.faults.LateBillsMs
	wrong := bill == nil || date != nil || amount.UnmarshalJSON([]byte(`"`+q.Amount+`"`)) != nil ||
		!amount.Positive() || q.TransactionID == "" || q.Account == "" || q.InvoiceName == ""
	sent := slices.ContainsFunc(s.book.bills.receipts, func(o BillReceipt) bool {
		return o.TransactionID == string(q.TransactionID)
	})
	if !wrong && !sent {
		s.book.bills.receipts = append(s.book.bills.receipts, BillReceipt{
			TransactionID: string(q.TransactionID), Reference: bill.Reference, Amount: amount,
		})
	}
	s.mu.Unlock()
	if wrong {
		billAnswer(w, http.StatusOK, billInvalid, "Invalid reconciliation")
		return
	}
	s.pause(late)
	billAnswer(w, http.StatusOK, billDone, "Success")
}

// BillPayment is a payment of a bill through the bill manager.
type BillPayment struct {
	Reference string `json:"externalReference"`
	MSISDN    string `json:"msisdn"` // "" = the phone of the bill
	Amount    Amount `json:"amount"` // zero = that of the bill
	// AlsoPaybill sends the paybill's confirmation too, where addresses are registered, as the provider does.
	AlsoPaybill bool `json:"alsoPaybill"`
}

// PayBill pays a bill that is open, and reports it. It gives the receipt number.
func (s *Simulator) PayBill(p BillPayment) (string, error) {
	s.mu.Lock()
	bill := s.book.bills.bills[p.Reference]
	if bill == nil || bill.State != "open" {
		s.mu.Unlock()
		return "", fmt.Errorf("there is no open bill %q", p.Reference)
	}
	if p.Amount.IsZero() {
		p.Amount = bill.Amount
	}
	t := s.book.move(Transaction{
		Channel: "c2b", ShortCode: bill.ShortCode, Amount: p.Amount, MSISDN: cmp.Or(p.MSISDN, bill.Phone),
		BillRefNumber: bill.AccountReference,
	}, s.cfg.Clock.Now())
	bill.State = "paid"
	list := []callback{{
		kind: "bill", id: t.ReceiptNumber, url: s.book.bills.shortcodes[bill.ShortCode].callbackURL,
		body: map[string]any{
			"transactionId": t.ReceiptNumber, "paidAmount": t.Amount.Decimal(), "msisdn": t.MSISDN,
			"dateCreated": eat(t.At, time.DateOnly), "accountReference": bill.AccountReference,
			"shortCode": bill.ShortCode,
		},
	}}
	if urls, registered := s.book.urls[bill.ShortCode]; registered && p.AlsoPaybill {
		list = append(list, s.confirmation(urls, t, bill.AccountReference, ""))
	}
	s.mu.Unlock()
	s.post(list)
	return t.ReceiptNumber, nil
}

// Bills gives all that the bill manager took, oldest first.
func (s *Simulator) Bills() []Bill {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Bill, 0, len(s.book.bills.order))
	for _, b := range s.book.bills.order {
		list = append(list, *b)
	}
	return list
}

// BillReceipts gives the electronic receipts that customers got, oldest first.
func (s *Simulator) BillReceipts() []BillReceipt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]BillReceipt{}, s.book.bills.receipts...)
}

// BillCalls counts the calls of an operation, such as bulk-invoicing, or of a whole path.
func (s *Simulator) BillCalls(of string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.book.bills.calls[of]
}

// BillReminders gives what the bill manager has reminded of until now: on each day of reminderDays from that on which
// it got the bill, for bills that are open.
func (s *Simulator) BillReminders() []BillReminder {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []BillReminder{}
	today := eat(s.cfg.Clock.Now(), time.DateOnly)
	for _, b := range s.book.bills.order {
		due, err := time.Parse(time.DateOnly, b.DueDate)
		if err != nil || b.State != "open" || !s.book.bills.shortcodes[b.ShortCode].reminders {
			continue
		}
		for _, n := range reminderDays {
			day := due.AddDate(0, 0, -n).Format(time.DateOnly)
			if day <= today && day >= eat(b.At, time.DateOnly) {
				list = append(list, BillReminder{Reference: b.Reference, Day: day, Before: n})
			}
		}
	}
	return list
}
