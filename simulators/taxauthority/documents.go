package taxauthority

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// document is one that is handed over. Amounts are decimal numbers.
type document struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Number   string    `json:"number"`
	Original string    `json:"originalControlNumber"`
	Device   string    `json:"device"`
	Branch   string    `json:"branch"`
	Seller   party     `json:"seller"`
	Buyer    party     `json:"buyer"`
	IssuedAt time.Time `json:"issuedAt"`
	Currency string    `json:"currency"`
	Lines    []line    `json:"lines"`
	Net      string    `json:"net"`
	Taxes    []tax     `json:"taxes"`
	Total    string    `json:"total"`
}

// party is a seller or a buyer.
type party struct {
	PIN  string `json:"pin"`
	Name string `json:"name"`
}

// line is one charge.
type line struct {
	Description string `json:"description"`
	Quantity    string `json:"quantity"`
	Net         string `json:"net"`
	Total       string `json:"total"`
}

// tax is one kind of tax; its rate is in hundredths of a percent.
type tax struct {
	Name        string `json:"name"`
	BasisPoints int64  `json:"basisPoints"`
	Amount      string `json:"amount"`
}

// outcome is an answer.
type outcome struct {
	Status        string     `json:"status,omitempty"`
	ControlNumber string     `json:"controlNumber,omitempty"`
	Verification  string     `json:"verification,omitempty"`
	SignedAt      *time.Time `json:"signedAt,omitempty"`
	Code          string     `json:"code,omitempty"`
	Message       string     `json:"message,omitempty"`
}

// pin is the form of a tax number in Kenya: a letter, nine digits, a letter.
var pin = regexp.MustCompile(`^[A-Z][0-9]{9}[A-Z]$`)

// submit signs a document once, or refuses it. A refused one is forgotten: it may come again.
func (s *Simulator) submit(w http.ResponseWriter, r *http.Request) {
	var d document
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil || d.ID == "" {
		answer(w, http.StatusBadRequest, outcome{Code: "unreadable", Message: "The document cannot be read"})
		return
	}
	done, lost, garbled := s.decide(d)
	switch {
	case lost:
		panic(http.ErrAbortHandler)
	case garbled:
		_, _ = w.Write([]byte("<html>Bad gateway</html>"))
	case done.Status == "refused":
		answer(w, http.StatusUnprocessableEntity, done)
	default:
		answer(w, http.StatusOK, done)
	}
}

// decide signs or refuses, and says whether the answer is lost or nonsense.
func (s *Simulator) decide(d document) (done outcome, lost, garbled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	known := s.signed[d.ID]
	if known == nil {
		if code, message := s.refuses(d); code != "" {
			s.refused++
			return outcome{Status: "refused", Code: code, Message: message}, false, false
		}
		known = s.sign(d)
	}
	known.Times++
	if s.faults.LoseAnswers > 0 {
		s.faults.LoseAnswers--
		return outcome{}, true, false
	}
	if s.faults.Garble > 0 {
		s.faults.Garble--
		return outcome{}, false, true
	}
	return known.outcome(), false, false
}

// sign gives a document the next control number of its device.
func (s *Simulator) sign(d document) *Signed {
	control := fmt.Sprintf("%s%s-%06d", cmp.Or(d.Device, "SIM"), d.Branch, len(s.order)+1)
	signed := &Signed{
		ID: d.ID, Kind: d.Kind, Number: d.Number, Original: d.Original, Device: d.Device, Branch: d.Branch,
		SellerPIN: d.Seller.PIN, BuyerPIN: d.Buyer.PIN, Total: d.Total, ControlNumber: control,
		Verification: "https://tax.example/verify?pin=" + d.Seller.PIN + "&control=" + control,
		SignedAt:     s.cfg.Clock.Now().UTC().Truncate(time.Second),
	}
	s.signed[d.ID] = signed
	s.order = append(s.order, d.ID)
	return signed
}

// outcome is the answer about a signed document.
func (d *Signed) outcome() outcome {
	return outcome{
		Status: "signed", ControlNumber: d.ControlNumber, Verification: d.Verification, SignedAt: &d.SignedAt,
	}
}

// find answers what became of a document.
func (s *Simulator) find(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	known := s.signed[r.PathValue("id")]
	var done outcome
	if known != nil {
		done = known.outcome()
	}
	s.mu.Unlock()
	if known == nil {
		answer(w, http.StatusNotFound, outcome{Code: "document_not_found", Message: "No such document"})
		return
	}
	answer(w, http.StatusOK, done)
}

// refuses gives the code and the words of the first fault of a document; "" for a good one.
func (s *Simulator) refuses(d document) (code, message string) {
	switch {
	case s.faults.RefuseCode != "":
		return s.faults.RefuseCode, "Refused as was asked for"
	case s.faults.RefuseNumber != "" && s.faults.RefuseNumber == d.Number:
		return "number_refused", "The number " + d.Number + " is not allowed"
	case !pin.MatchString(d.Seller.PIN):
		return "seller_pin_invalid", "The PIN of the seller is not valid"
	case d.Buyer.PIN != "" && !pin.MatchString(d.Buyer.PIN):
		return "buyer_pin_invalid", "The PIN of the buyer is not valid"
	case d.Device == "" || d.Branch == "":
		return "device_missing", "Device and branch are required"
	case d.Number == "" || d.Currency == "" || d.IssuedAt.IsZero():
		return "document_incomplete", "Number, currency and date are required"
	case d.Kind != "invoice" && d.Kind != "credit_note" && d.Kind != "cancellation":
		return "kind_unknown", "The kind of the document is not known"
	case d.Original != "" && !s.has(d.Original):
		return "original_unknown", "The original invoice was never signed"
	case d.Kind == "cancellation" && d.Original == "":
		return "original_missing", "A cancellation names the invoice that it takes back"
	}
	return sums(d)
}

// has reports whether a control number was given.
func (s *Simulator) has(control string) bool {
	for _, d := range s.signed {
		if d.ControlNumber == control {
			return true
		}
	}
	return false
}

// sums refuses amounts that are negative or do not add up.
func sums(d document) (code, message string) {
	net, ok := cents(d.Net)
	total, fine := cents(d.Total)
	sum, lines, all := net, int64(0), ok && fine && net >= 0 && total >= 0
	for _, t := range d.Taxes {
		amount, ok := cents(t.Amount)
		all, sum = all && ok && amount >= 0, sum+amount
	}
	for _, l := range d.Lines {
		amount, ok := cents(l.Total)
		all, lines = all && ok, lines+amount
	}
	switch {
	case !all:
		return "amount_invalid", "Amounts must be numbers that are not negative"
	case sum != total, len(d.Lines) == 0, lines != total:
		return "amounts_differ", "Lines and taxes do not add up to the total"
	}
	return "", ""
}

// cents reads a decimal number with two digits at most.
func cents(text string) (int64, bool) {
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+(part + "00")[:2], 10, 64)
	return n, err == nil
}
