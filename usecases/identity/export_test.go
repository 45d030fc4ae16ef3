package identitycases

import (
	"context"

	"github.com/lastmile-isp/lastmile/usecases"
)

// Step is a part of a proof that a stop can come behind.
type Step = step

// Steps lists what Prove would do, so that a test can stop between two steps.
func (p Persons) Steps(ctx context.Context, asked usecases.Asked, in Proof) ([]Step, error) {
	_, steps, err := p.prepare(ctx, asked, in)
	return steps, err
}
