package documentscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// errNotSigned refuses a document that the tax authority has not signed.
func errNotSigned() error {
	return failure.NewConflict("document_not_signed",
		"The tax authority has not signed this document yet. It can be printed and sent when that is done.")
}

// signatureOf gives the tax authority's signature of a document; nil for one that needs none. One that needs one and
// has none is not given to anybody, also when it is not queued yet: toBeSigned says that the gateway was on when it was
// issued. Fails: document_not_signed.
func (d Documents) signatureOf(
	ctx context.Context, org id.Organization, document id.Any, toBeSigned bool,
) (*billingviews.SignatureRow, error) {
	row, err := billingviews.SignaturesQuery{Views: d.Views}.Get(ctx, org, id.As[id.Signature](document))
	switch {
	case err != nil:
		return nil, err
	case row != nil && row.State == "signed":
		return row, nil
	case row != nil && row.State == "withdrawn": // it was voided before anybody had it
		return nil, nil
	case row != nil || toBeSigned:
		return nil, errNotSigned()
	}
	return nil, nil
}

// signed puts the signature on the sheet, with the code that a phone reads.
func (f frame) signed(s *paper.Sheet) {
	const side = 84 // in points
	if f.signature == nil {
		return
	}
	s.Space(16)
	lines := []paper.Line{
		{Text: "Signed by the tax authority", Style: paper.Style{Bold: true}},
		{Text: "Control number: " + f.signature.ControlNumber},
		{Text: "Signed: " + f.dayOf(f.signature.SignedAt)},
		{Text: f.signature.Verification, Style: paper.Style{Quiet: true}},
	}
	s.Code(f.signature.Verification, side, lines)
}
