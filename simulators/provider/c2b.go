package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// registerRequest is the body of a URL registration. Source: docs/facts/mobile-money.md#c2b-registration.
type registerRequest struct {
	ShortCode       text
	ResponseType    text
	ConfirmationURL text
	ValidationURL   text
}

// registeredCode is the code of a second registration, and forbiddenCode that of an address with a forbidden word.
// Source: docs/facts/mobile-money.md#c2b-registration, docs/facts/mobile-money.md#forbidden-words.
const (
	registeredCode = "500.003.1001"
	forbiddenCode  = "400.003.02"
)

// forbiddenWord gives the first word in an address for which the provider refuses it, "" when there is none.
func forbiddenWord(address string) string {
	address = strings.ToLower(address)
	for _, word := range []string{"mpesa", "m-pesa", "safaricom", "exe", "cmd", "sql", "query"} {
		if strings.Contains(address, word) {
			return word
		}
	}
	return ""
}

// registerURLs stores the C2B addresses of a shortcode. A later call is refused, as in production, unless the simulator
// is a sandbox.
func (s *Simulator) registerURLs(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[registerRequest](s, w, r)
	if !ok {
		return
	}
	if code, fault := s.registrationFault(r, q); fault != "" {
		s.refuse(w, http.StatusBadRequest, code, "Bad Request - "+fault)
		return
	}
	s.mu.Lock()
	faults := s.book.faults
	_, has := s.book.urls[string(q.ShortCode)]
	taken := has && !s.cfg.Sandbox
	if !taken {
		s.book.urls[string(q.ShortCode)] = registration{
			confirmation: string(q.ConfirmationURL), validation: string(q.ValidationURL),
			cancelled: q.ResponseType == "Cancelled",
		}
	}
	conversation := s.book.id("oc-")
	lost := s.book.happens(faults.LoseRegistration, "lose registration "+conversation)
	s.mu.Unlock()
	switch {
	case lost:
		panic(http.ErrAbortHandler) // drops the connection: the addresses may be registered, and nobody learns it
	case taken && faults.PlainRegistered:
		answer(w, http.StatusOK, map[string]string{
			"ConversationID": "", "OriginatorCoversationID": "",
			"ResponseDescription": "Validation and Confirmation URLs are already registered",
		})
		return
	case taken:
		s.refuse(w, http.StatusInternalServerError, registeredCode, "Urls are already registered.")
		return
	}
	s.log.Info("c2b addresses registered", "short_code", string(q.ShortCode))
	answer(w, http.StatusOK, map[string]string{ // the provider misspells the key
		"OriginatorCoversationID": conversation, "ResponseCode": acceptedCode, "ResponseDescription": "Success",
	})
}

// registrationFault names the first wrong field of a registration, in the provider's words, with the error code; both
// are "" when all are right.
func (s *Simulator) registrationFault(r *http.Request, q registerRequest) (code, fault string) {
	switch {
	case q.ShortCode == "" || !s.mayUse(r, string(q.ShortCode)):
		return badRequestCode, "Invalid ShortCode"
	case q.ResponseType != "Completed" && q.ResponseType != "Cancelled":
		return badRequestCode, "Invalid ResponseType"
	case !loopbackURL(string(q.ConfirmationURL)):
		return badRequestCode, "Invalid ConfirmationURL"
	case !loopbackURL(string(q.ValidationURL)):
		return badRequestCode, "Invalid ValidationURL"
	}
	if word := cmp.Or(forbiddenWord(string(q.ConfirmationURL)), forbiddenWord(string(q.ValidationURL))); word != "" {
		return forbiddenCode, "URL has the word " + word
	}
	return "", ""
}

// DeleteURLs deletes the C2B addresses of a shortcode, as its owner does in the provider's portal. It reports whether
// there were any.
func (s *Simulator) DeleteURLs(shortCode string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, has := s.book.urls[shortCode]
	delete(s.book.urls, shortCode)
	return has
}

// Paybill is a payment that a customer starts on their own phone.
type Paybill struct {
	ShortCode     string `json:"shortCode"`
	MSISDN        string `json:"msisdn"`
	Amount        Amount `json:"amount"`
	BillRefNumber string `json:"billRefNumber"`
	InvoiceNumber string `json:"invoiceNumber,omitempty"`
	// ReceiptNumber forces the receipt number: the two environments of the provider, and forgers, may give one that is
	// in use. Empty = a new one.
	ReceiptNumber string `json:"receiptNumber,omitempty"`
}

// PaybillResult is the answer of POST /sim/paybill.
type PaybillResult struct {
	// State is "completed", "rejected" by validation, or "cancelled" because validation did not answer.
	State         string `json:"state"`
	ReceiptNumber string `json:"receiptNumber,omitempty"` // when completed
	ResultCode    string `json:"resultCode,omitempty"`    // of a rejecting validation
	Confirmation  string `json:"confirmation,omitempty"`  // "sent" in the background, or "not_registered"
}

// Pay makes a customer pay by paybill: validation, then money, then confirmation. An error names the wrong field of p.
func (s *Simulator) Pay(ctx context.Context, p Paybill) (PaybillResult, error) {
	msisdn, err := plainMSISDN(p.MSISDN)
	switch {
	case err != nil:
		return PaybillResult{}, err
	case p.ShortCode == "":
		return PaybillResult{}, errors.New("shortCode is required")
	case !p.Amount.Positive():
		return PaybillResult{}, errors.New("amount must be positive")
	case len(p.BillRefNumber) > maxBillRef:
		return PaybillResult{}, fmt.Errorf("billRefNumber has more than %d characters", maxBillRef)
	}
	s.mu.Lock()
	urls, registered := s.book.urls[p.ShortCode]
	draft := Transaction{
		ReceiptNumber: cmp.Or(p.ReceiptNumber, s.book.receiptNumber()), InvoiceNumber: p.InvoiceNumber, Channel: "c2b",
		ShortCode: p.ShortCode, Amount: p.Amount, MSISDN: msisdn, BillRefNumber: p.BillRefNumber, At: s.cfg.Clock.Now(),
	}
	s.mu.Unlock()

	echo := ""
	if registered {
		var refusal *PaybillResult
		if echo, refusal = s.validate(ctx, urls, draft); refusal != nil {
			return *refusal, nil
		}
	}
	s.mu.Lock()
	t := s.book.move(draft, s.cfg.Clock.Now())
	c := s.confirmation(urls, t, p.BillRefNumber, echo)
	s.mu.Unlock()
	if !registered {
		return PaybillResult{State: t.State, ReceiptNumber: t.ReceiptNumber, Confirmation: "not_registered"}, nil
	}
	s.post([]callback{c})
	return PaybillResult{State: t.State, ReceiptNumber: t.ReceiptNumber, Confirmation: "sent"}, nil
}

// validate asks the shortcode's owner whether to accept the money. It gives the ThirdPartyTransID to echo, or the
// refusal.
func (s *Simulator) validate(
	ctx context.Context, urls registration, draft Transaction,
) (echo string, refusal *PaybillResult) {
	s.mu.Lock()
	body := s.c2bBody(draft, draft.BillRefNumber, "")
	s.mu.Unlock()
	delete(body, "OrgAccountBalance")
	status, reply, err := s.exchange(ctx, urls.validation, body)
	verdict := fmt.Sprint(reply["ResultCode"]) // a string; some owners answer a number
	if err != nil || status != http.StatusOK || reply["ResultCode"] == nil {
		if urls.cancelled {
			return "", &PaybillResult{State: "cancelled"}
		}
		return "", nil
	}
	if verdict != "0" {
		return "", &PaybillResult{State: "rejected", ResultCode: verdict}
	}
	echo, _ = reply["ThirdPartyTransID"].(string)
	return echo, nil
}

// confirmation makes the message that money arrived, and keeps it for Resend. The lock is held.
func (s *Simulator) confirmation(urls registration, t Transaction, billRef, echo string) callback {
	c := callback{kind: "c2b", id: t.ReceiptNumber, url: urls.confirmation, body: s.c2bBody(t, billRef, echo)}
	if urls.confirmation != "" {
		s.book.c2bSent[t.ReceiptNumber] = c
	}
	return c
}

// c2bBody makes a body with the fields of docs/facts/mobile-money.md#c2b. The lock is held.
func (s *Simulator) c2bBody(t Transaction, billRef, echo string) map[string]string {
	phone := s.book.phone(t.MSISDN)
	msisdn := t.MSISDN
	if s.book.faults.MaskMSISDN {
		msisdn = msisdn[:4] + strings.Repeat("*", 5) + msisdn[len(msisdn)-3:]
	}
	return map[string]string{
		"TransactionType": "Pay Bill", "TransID": t.ReceiptNumber, "TransTime": eat(t.At, stampLayout),
		"TransAmount": t.Amount.Decimal(), "BusinessShortCode": t.ShortCode, "BillRefNumber": billRef,
		"InvoiceNumber": t.InvoiceNumber, "OrgAccountBalance": s.book.balances[t.ShortCode].Decimal(),
		"ThirdPartyTransID": echo, "MSISDN": msisdn, "FirstName": cmp.Or(phone.FirstName, "CUSTOMER"),
		"MiddleName": phone.MiddleName, "LastName": phone.LastName,
	}
}
