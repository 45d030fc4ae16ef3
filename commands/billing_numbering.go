package commands

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// NumberingCategory begins the names of the streams of number series.
const NumberingCategory = "numbering"

// NumberingCommand is a command to "numbering-<series id>".
type NumberingCommand interface {
	Command
	numberingCommand()
}

// Types of numbered documents. Each has its own series.
const (
	InvoiceDocument    = "invoice"
	CreditNoteDocument = "credit_note"
)

// MaxNumberBlock is the largest number of documents that get their numbers in one append.
const MaxNumberBlock = 1000

// GrantNumbers gives a block of documents the next numbers of their series, for ever and in one append. After
// identifies the block: it is the last number that the caller knows of, together with all documents that have one. When
// the series has granted more meanwhile, the caller's list may be old, and the command changes nothing. So a document
// gets one number, however long ago it was granted.
type GrantNumbers struct {
	SeriesID  id.Series
	OrgID     id.Organization
	Document  string // InvoiceDocument or CreditNoteDocument
	Prefix    string
	After     int64 // 0 for the first block
	Documents []NumberedDocument
	RunID     id.BillingRun // that issues them at once; zero = none
}

// NumberedDocument is a document that waits for its number.
type NumberedDocument struct {
	DocumentID   id.Any // id of an invoice or a credit note
	SubscriberID id.Subscriber
}

// GrantNumber is in rows that programs before the blocks have stored for one document. It changes nothing: the document
// gets its number with the next block.
type GrantNumber struct {
	SeriesID     id.Series
	OrgID        id.Organization
	Document     string
	DocumentID   id.Any
	SubscriberID id.Subscriber
	Prefix       string
}

// SeriesOf is the series of one type of document under a prefix; the id is derived from the three, so that it
// need not be stored.
func SeriesOf(org id.Organization, document, prefix string) id.Series {
	return id.Derive[id.Series]("series", org.String(), document, prefix)
}

func (GrantNumbers) CommandName() string { return "billing.GrantNumbers" }
func (GrantNumber) CommandName() string  { return "billing.GrantNumber" }
func (c GrantNumbers) Target() Target    { return At(NumberingCategory, c.SeriesID) }
func (c GrantNumber) Target() Target     { return At(NumberingCategory, c.SeriesID) }
func (GrantNumbers) numberingCommand()   {}
func (GrantNumber) numberingCommand()    {}

// Validate also checks that the series id is the one that SeriesOf gives, and that no document is in the block twice.
func (c GrantNumbers) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Document == InvoiceDocument || c.Document == CreditNoteDocument, "document", "is unknown")
	f.Check(prefixShape.MatchString(c.Prefix), "prefix", "must be 2 to 6 capitals or digits")
	f.Check(c.SeriesID == SeriesOf(c.OrgID, c.Document, c.Prefix), "seriesId", "is not of this series")
	f.Check(c.After >= 0, "after", "must not be negative")
	f.Check(len(c.Documents) > 0, "documents", "must not be empty")
	f.Check(len(c.Documents) <= MaxNumberBlock, "documents", "must be at most %d", MaxNumberBlock)
	seen := make(map[id.Any]bool, len(c.Documents))
	for i, d := range c.Documents {
		field := fmt.Sprintf("documents[%d]", i)
		f.Check(!d.DocumentID.IsZero(), field+".documentId", "is required")
		f.Check(!d.SubscriberID.IsZero(), field+".subscriberId", "is required")
		f.Check(!seen[d.DocumentID], field+".documentId", "is in the block twice")
		seen[d.DocumentID] = true
	}
	return f.Err()
}

// Validate checks form only.
func (c GrantNumber) Validate() error {
	var f failure.Faults
	f.Check(!c.SeriesID.IsZero(), "seriesId", "is required")
	return f.Err()
}
