package paymentscases

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// MaxProofSteps bounds the proof of a receipt. Money that has a longer way was moved hundreds of times.
const MaxProofSteps = 500

// maxProofContent bounds what a proof shows of one message, in bytes. Real messages are under 2 KiB.
const maxProofContent = 16 << 10

// What proved the sender of a message; a message that nothing proved has none.
const (
	ProvenByAddress = "secret_address" // the secret in the address to which it was sent
	ProvenBySender  = "known_sender"   // a listed sender; in sandbox and test mode any
)

// What became of a message that is not shown.
const (
	MessageRemoved = "removed" // the inbox keeps messages for a time only (vault.InboxKept)
	MessageErased  = "erased"  // a person was forgotten, whom it is about
)

// Proofs gathers how one receipt is known and where its money was (docs/rules/money.md#proof-of-a-receipt).
type Proofs struct {
	Steps paymentsviews.ProofQuery
	Inbox *vault.Inbox
}

// Proof is the way of a receipt's money, and the messages that told of it.
type Proof struct {
	Steps    []paymentsviews.ProofStep // the oldest first
	Messages map[int64]ProofMessage    // by the position of the step that came from it
	More     bool                      // it has more steps than MaxProofSteps
}

// ProofMessage is one message of the provider. Missing says why its content is not there; the rest is then zero.
type ProofMessage struct {
	Missing    string
	Kind       string
	ReceivedAt time.Time
	From       netip.Addr
	Verified   bool
	ProvenBy   string
	Content    string // JSON, without the balances of accounts at the provider
	Cut        bool   // the content is longer than what is shown
}

// Of gives the proof of a receipt of an organization; it has no steps when there is no such receipt.
func (p Proofs) Of(ctx context.Context, org id.Organization, receipt id.Receipt) (Proof, error) {
	steps, err := p.Steps.Steps(ctx, org, receipt, MaxProofSteps+1)
	if err != nil {
		return Proof{}, err
	}
	out := Proof{Steps: steps, More: len(steps) > MaxProofSteps, Messages: map[int64]ProofMessage{}}
	out.Steps = steps[:min(len(steps), MaxProofSteps)]
	var asked []uuid.UUID
	for _, s := range out.Steps {
		if s.MessageID.Valid {
			asked = append(asked, s.MessageID.UUID)
		}
	}
	kept, err := p.Inbox.Read(ctx, asked)
	if err != nil {
		return Proof{}, err
	}
	for _, s := range out.Steps {
		if m, told := messageOf(s, kept); told {
			out.Messages[s.Position] = m
		}
	}
	return out, nil
}

// byMessage are the sightings that a message of the provider brought.
var byMessage = []string{commands.SightingCallback, commands.SightingConfirmation, commands.SightingBillManager}

// messageOf is the message of a step. A question of ours has one only when an unproven message made us ask.
func messageOf(s paymentsviews.ProofStep, kept map[uuid.UUID]vault.Callback) (ProofMessage, bool) {
	brought := slices.Contains(byMessage, s.Sighting)
	if s.Erased && brought {
		return ProofMessage{Missing: MessageErased}, true
	}
	if brought && !s.MessageID.Valid && s.Kind == "disputed" {
		return ProofMessage{}, false // it is another organization's to see
	}
	c, found := kept[s.MessageID.UUID]
	switch {
	case !found && brought:
		return ProofMessage{Missing: MessageRemoved}, true
	case !found:
		return ProofMessage{}, false
	}
	m := ProofMessage{
		Kind: c.Kind, ReceivedAt: c.ReceivedAt, From: c.SourceIP, Verified: c.Verified,
	}
	switch {
	case c.Verified && c.Ref != uuid.Nil:
		m.ProvenBy = ProvenByAddress
	case c.Verified:
		m.ProvenBy = ProvenBySender
	}
	m.Content, m.Cut = proofContent(c.Body)
	return m, true
}

// proofContent writes the content of a message for people. Balances of accounts at the provider are left out: that of
// the shared paybill is the platform's, that of the payer is private.
func proofContent(body []byte) (content string, cut bool) {
	var said any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&said) != nil {
		return "", false
	}
	shown, err := json.MarshalIndent(withoutBalances(said), "", "  ")
	if err != nil {
		return "", false
	}
	if len(shown) > maxProofContent {
		return strings.ToValidUTF8(string(shown[:maxProofContent]), ""), true
	}
	return string(shown), false
}

// withoutBalances leaves out the balance of the shortcode in a paybill's message, and the value of the item Balance in
// a prompt's.
func withoutBalances(said any) any {
	switch said := said.(type) {
	case map[string]any:
		for name, value := range said {
			said[name] = withoutBalances(value)
		}
		delete(said, "OrgAccountBalance")
		if said["Name"] == "Balance" {
			delete(said, "Value")
		}
	case []any:
		for i, value := range said {
			said[i] = withoutBalances(value)
		}
	}
	return said
}
