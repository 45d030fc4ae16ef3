package radius

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Result is the end that a packet came to. Each packet has one, except that an accounting request has Taken and later
// Acknowledged, Refused or SendFailed, and a sign-in that is accepted later has Taken and then Accepted or SendFailed.
type Result uint8

// The results.
const (
	Accepted Result = iota
	Rejected
	Taken          // given to the accounting sink, or to be accepted later
	Acknowledged   // durable, answered
	Refused        // not durable, or too many wait to become so: no answer
	Alive          // Status-Server answered
	Repeated       // answered with the octets of the first time
	Swallowed      // repeat of a request that is in work
	Malformed      // dropped: lengths contradict each other, or something that must be there is missing
	Unexpected     // dropped: a code that does not belong to this port
	UnknownNAS     // dropped: source address that no NAS has
	WrongSecret    // dropped: no secret of that address fits
	Unproven       // dropped: a Message-Authenticator is needed and missing
	OverLimit      // dropped: more than the NAS may ask in a second
	ReplyTooLong   // dropped: the answer has no room in a packet
	SendFailed     // the operating system did not take the answer
	Incomplete     // dropped: the directory does not know enough about the NAS's organization
	Panicked       // dropped: a fault of the program
	SecretDoubtful // notice only: a password decrypted to something that no person typed
	TooMuchPending // notice only: the sink is behind with the NAS
	BadAttribute   // beside another result: an attribute that does not matter could not be read
	resultCount
)

// resultWords are the labels of metrics and the words of logs.
var resultWords = [resultCount]string{
	"accepted", "rejected", "taken", "acknowledged", "refused", "alive", "repeated", "swallowed", "malformed",
	"unexpected_code", "unknown_nas", "wrong_secret", "unproven", "over_limit", "reply_too_long", "send_failed",
	"incomplete", "panicked", "secret_doubtful", "too_much_pending", "bad_attribute",
}

// String is the word for metrics and logs.
func (r Result) String() string { return resultWords[r] }

// counters has one counter for each result on one port.
type counters [resultCount]prometheus.Counter

// newCounters registers the counters of both ports at to; nil = they are kept, but not shown.
func newCounters(to prometheus.Registerer) (access, accounting *counters, err error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "lastmile", Subsystem: "radius", Name: "packets_total",
		Help: "Packets of RADIUS clients by port and by what became of them.",
	}, []string{"port", "result"})
	access, accounting = &counters{}, &counters{}
	for r := range resultCount {
		access[r] = all.WithLabelValues("access", r.String())
		accounting[r] = all.WithLabelValues("accounting", r.String())
	}
	if to != nil {
		if err := to.Register(all); err != nil {
			return nil, nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return access, accounting, nil
}
