package provider

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pullRegistration is the body of a registration. Source: docs/facts/mobile-money.md#missed-receipts.
type pullRegistration struct {
	ShortCode       text
	RequestType     text
	NominatedNumber text
	CallBackURL     text
}

// pullQuery is the body of a question for payments; its dates are in East Africa Time.
type pullQuery struct {
	ShortCode   text
	StartDate   text
	EndDate     text
	OffSetValue text
}

// Codes of the pull API in the bodies of its answers, and how far back and how many payments one answer lists.
const (
	pullDone       = "1000"
	pullRegistered = "1001" // also: nothing in this time
	pullBack       = 48 * time.Hour
	pullPage       = 100
	pullLayout     = "2006-01-02 15:04:05"
)

// registerPull keeps the payments of a shortcode for being listed. A repeat says so and changes nothing.
func (s *Simulator) registerPull(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[pullRegistration](s, w, r)
	if !ok {
		return
	}
	phone, err := plainMSISDN(string(q.NominatedNumber))
	switch {
	case q.ShortCode == "" || !s.mayUse(r, string(q.ShortCode)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid ShortCode")
		return
	case q.RequestType != "Pull" || !loopbackURL(string(q.CallBackURL)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid RequestType or CallBackURL")
		return
	case err != nil:
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid NominatedNumber")
		return
	}
	s.mu.Lock()
	before := len(s.book.pulls[string(q.ShortCode)]) > 0
	s.book.pulls[string(q.ShortCode)] = append(s.book.pulls[string(q.ShortCode)], phone)
	ref := s.book.id("pull-")
	s.mu.Unlock()
	status, words := pullDone, "ShortCode registered successfully"
	if before {
		status, words = pullRegistered, "ShortCode already Registered"
	}
	answer(w, http.StatusOK, map[string]string{
		"ResponseRefID": ref, "ResponseStatus": status, "ShortCode": string(q.ShortCode), "ResponseDescription": words,
	})
}

// pull lists payments to a registered shortcode, the oldest first, whatever became of their callbacks.
func (s *Simulator) pull(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[pullQuery](s, w, r)
	if !ok {
		return
	}
	from, err := time.ParseInLocation(pullLayout, string(q.StartDate), eastAfrica)
	to, err2 := time.ParseInLocation(pullLayout, string(q.EndDate), eastAfrica)
	offset, err3 := strconv.Atoi(cmp.Or(string(q.OffSetValue), "0"))
	s.mu.Lock()
	registered := len(s.book.pulls[string(q.ShortCode)]) > 0
	s.mu.Unlock()
	switch {
	case !registered || !s.mayUse(r, string(q.ShortCode)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid ShortCode")
		return
	case cmp.Or(err, err2, err3) != nil || offset < 0 || !from.Before(to):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid StartDate, EndDate or OffSetValue")
		return
	case from.Before(s.cfg.Clock.Now().Add(-pullBack)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - StartDate is more than 48 hours ago")
		return
	}
	s.mu.Lock()
	rows := s.book.pulled(string(q.ShortCode), from, to)
	ref := s.book.id("pull-")
	s.mu.Unlock()
	rows = rows[min(offset, len(rows)):]
	rows = rows[:min(len(rows), pullPage)]
	code, words := pullDone, "Success"
	if len(rows) == 0 {
		code, words = pullRegistered, "No records found"
	}
	answer(w, http.StatusOK, map[string]any{
		"ResponseRefID": ref, "ResponseCode": code, "ResponseMessage": words, "Response": [][]map[string]any{rows},
	})
}

// pulled gives the rows of a time, its end included, to the second. The lock is held.
func (b *book) pulled(shortCode string, from, to time.Time) []map[string]any {
	rows := []map[string]any{}
	for _, t := range b.transactions {
		at := t.At.Truncate(time.Second)
		if t.ShortCode != shortCode || at.Before(from) || at.After(to) {
			continue
		}
		phone := b.phone(t.MSISDN)
		msisdn := t.MSISDN
		if b.faults.MaskMSISDN {
			msisdn = msisdn[:4] + strings.Repeat("*", 5) + msisdn[len(msisdn)-3:]
		}
		rows = append(rows, map[string]any{
			"transactionId": t.ReceiptNumber, "trxDate": eat(t.At, "2006-01-02T15:04:05Z"), "msisdn": msisdn,
			"sender":          strings.Join(strings.Fields(phone.FirstName+" "+phone.LastName), " "),
			"transactiontype": "c2b-pay-bill-debit", "billreference": cmp.Or(t.BillRefNumber, t.AccountReference),
			"amount": t.Amount.Decimal(), "organizationname": "SHORTCODE " + shortCode,
		})
	}
	return rows
}

// ForgetPulls ends every registration for being listed, as when the provider moves a shortcode.
func (s *Simulator) ForgetPulls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.book.pulls)
}

// Nominated lists the phones that registrations of a shortcode for its list of payments have named, the newest last.
func (s *Simulator) Nominated(shortcode string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.book.pulls[shortcode])
}
