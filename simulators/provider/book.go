package provider

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// book is the provider's whole state, guarded by the simulator's lock.
type book struct {
	seed   uint64
	start  time.Time
	serial uint64 // numbers ids, receipts and requests

	faults      Faults
	credentials map[string]credentials // by consumer key; while empty every set is accepted
	tokens      map[string]token       // the one valid token by consumer key
	phones      map[string]Phone
	urls        map[string]registration // C2B addresses by shortcode
	balances    map[string]money.Amount // by shortcode
	pulls       map[string][]string     // shortcodes whose payments may be pulled, with the phones that were named

	prompts      map[string]*prompt // by CheckoutRequestID
	promptOrder  []*prompt          // oldest first
	transactions []Transaction      // money that moved, oldest first
	c2bSent      map[string]callback
	reversals    map[string]*reversal // by OriginatorConversationID
	bills        billBook
	held         []callback // under reorderCallbacks
	sent         []Delivery
}

// credentials is a set that PUT /sim/credentials made known. An empty shortcode or passkey is not checked.
type credentials struct {
	Key       string `json:"key"`
	Secret    string `json:"secret"`
	ShortCode string `json:"shortcode"`
	Passkey   string `json:"passkey"`
}

// token is valid until expires, exclusive, or until a newer one is issued.
type token struct {
	value   string
	expires time.Time
}

// registration holds the C2B addresses of a shortcode.
type registration struct {
	confirmation, validation string
	// cancelled is true when a payment is cancelled while validation does not answer. Source:
	// docs/facts/mobile-money.md#c2b-registration.
	cancelled bool
}

// prompt is one STK push that the provider accepted.
type prompt struct {
	checkoutID, merchantID string
	shortCode, msisdn      string
	amount                 money.Amount
	reference, callbackURL string
	at                     time.Time
	settled                bool
	code                   int // ResultCode, once settled
	receipt                string
	queries                int // asked while open
	last                   *callback
}

// Transaction is money that moved, in the form of GET /sim/transactions.
type Transaction struct {
	ReceiptNumber     string    `json:"receiptNumber"`
	Channel           string    `json:"channel"` // "stk" or "c2b"
	ShortCode         string    `json:"shortCode"`
	Amount            Amount    `json:"amount"`
	MSISDN            string    `json:"msisdn"`
	AccountReference  string    `json:"accountReference,omitempty"`
	BillRefNumber     string    `json:"billRefNumber,omitempty"`
	InvoiceNumber     string    `json:"invoiceNumber,omitempty"`
	CheckoutRequestID string    `json:"checkoutRequestId,omitempty"`
	At                time.Time `json:"at"`
	// State is "completed", or "reversed" once the money went back to the payer: a failure moves no money.
	State          string `json:"state"`
	ReversalNumber string `json:"reversalNumber,omitempty"` // of the payment back
}

// Amount is shown as a JSON number in major units.
type Amount struct{ money.Amount }

// MarshalJSON writes 12.50, exactly.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.Decimal()), nil }

// UnmarshalJSON reads a number or a decimal string, as shillings.
func (a *Amount) UnmarshalJSON(b []byte) error {
	var t text
	if err := t.UnmarshalJSON(b); err != nil {
		return err
	}
	parsed, err := money.Parse(string(t), money.KES)
	a.Amount = parsed
	return err
}

// newBook starts without prompts and money; every credential set is accepted.
func newBook(seed uint64, start time.Time) book {
	return book{
		seed: seed, start: start, faults: defaultFaults(),
		credentials: map[string]credentials{}, tokens: map[string]token{}, phones: map[string]Phone{},
		urls: map[string]registration{}, balances: map[string]money.Amount{},
		pulls:   map[string][]string{},
		prompts: map[string]*prompt{}, c2bSent: map[string]callback{},
		reversals: map[string]*reversal{}, bills: newBillBook(),
	}
}

// next gives 1, 2, 3, …; the lock is held.
func (b *book) next() uint64 {
	b.serial++
	return b.serial
}

// mix gives a well-spread number that depends only on the seed, the start and a name.
func (b *book) mix(name string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d|%d|%s", b.seed, b.start.UnixNano(), name)
	x := h.Sum64() // FNV spreads short names badly in the high bits: finish as splitmix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// happens decides a fault of probability p for a named occasion; the same occasion always gets the same answer.
func (b *book) happens(p float64, occasion string) bool {
	return p > 0 && float64(b.mix(occasion)>>11)/(1<<53) < p
}

// receiptDigits are the digits of base 36, as receipt numbers use them.
const receiptDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// receiptNumber makes a new one: ten capitals and digits, the first a capital. The first five come from seed and start,
// so that a restarted simulator does not repeat the receipts of an earlier run, the last five from the serial number,
// so that no two of a run are equal.
func (b *book) receiptNumber() string {
	const span = 36 * 36 * 36 * 36 * 36
	head := b.mix("receipt")
	tail := b.next() * 23_456_789 % span // a factor prime to 36 makes this one to one
	number := []byte{receiptDigits[10+head%26]}
	head /= 26
	for range 4 {
		number = append(number, receiptDigits[head%36])
		head /= 36
	}
	for range 5 {
		number = append(number, receiptDigits[tail%36])
		tail /= 36
	}
	return string(number)
}

// id makes a new identifier with a prefix, such as a CheckoutRequestID.
func (b *book) id(prefix string) string {
	n := b.next()
	return fmt.Sprintf("%s%s%06d%06d", prefix, eat(b.start, stampLayout), b.mix(fmt.Sprint(prefix, n))%1_000_000, n)
}

// move records a payment and gives its transaction. It is the only place where money moves. A receipt number that
// validation has already named is kept.
func (b *book) move(t Transaction, now time.Time) Transaction {
	if t.ReceiptNumber == "" {
		t.ReceiptNumber = b.receiptNumber()
	}
	t.At, t.State = now, "completed"
	b.balances[t.ShortCode] = b.balances[t.ShortCode].Add(t.Amount.Amount)
	b.transactions = append(b.transactions, t)
	return t
}

// stampLayout is the provider's form YYYYMMDDHHmmss.
const stampLayout = "20060102150405"

// eastAfrica is the provider's zone, UTC+3 all year.
var eastAfrica = time.FixedZone("EAT", 3*60*60)

// eat formats an instant in East Africa Time.
func eat(at time.Time, layout string) string { return at.In(eastAfrica).Format(layout) }
