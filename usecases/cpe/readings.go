package cpecases

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Readings reads what the CPE server asks about CPEs. After a power cut thousands call at the same time: they share
// readings. Safe for concurrent use.
type Readings struct {
	rows    func(ctx context.Context, cpes []id.CPE) ([]cpeviews.CPERow, error)
	secrets *vault.Secrets

	cpes      joined.Many[id.CPE, *cpeviews.CPERow]
	passwords joined.Many[id.Secret, password]
}

// password has a text of the vault, or why it cannot be read.
type password struct {
	text secrets.Text
	err  error
}

// NewReadings reads from a read model and a vault. rows reads some CPEs, whoever has them, and leaves out one that the
// read model does not have.
func NewReadings(
	rows func(ctx context.Context, cpes []id.CPE) ([]cpeviews.CPERow, error), kept *vault.Secrets,
) *Readings {
	return &Readings{rows: rows, secrets: kept}
}

// Row reads a CPE, whoever has it; nil when the read model does not have it. Nobody may change it.
func (r *Readings) Row(ctx context.Context, cpe id.CPE) (*cpeviews.CPERow, error) {
	row, _, err := r.cpes.Of(ctx, cpe, func(ctx context.Context, cpes []id.CPE) (map[id.CPE]*cpeviews.CPERow, error) {
		rows, err := r.rows(ctx, cpes)
		found := make(map[id.CPE]*cpeviews.CPERow, len(rows))
		for n := range rows {
			found[rows[n].ID] = &rows[n]
		}
		return found, err
	})
	return row, err
}

// Password reads a password from the vault; zero when there is none.
func (r *Readings) Password(ctx context.Context, ref id.Secret) (secrets.Text, error) {
	if ref.IsZero() {
		return "", nil
	}
	kept, _, err := r.passwords.Of(ctx, ref, r.readPasswords)
	if err != nil {
		return "", err
	}
	return kept.text, kept.err
}

// readPasswords reads several at once. One that cannot be opened is a fault of those alone who ask for it.
func (r *Readings) readPasswords(ctx context.Context, refs []id.Secret) (map[id.Secret]password, error) {
	kept, err := r.secrets.GetAll(ctx, refs)
	if kept == nil {
		return nil, err
	}
	found := make(map[id.Secret]password, len(refs))
	for _, ref := range refs {
		text, is := kept[ref]
		one := password{text: secrets.Text(text)}
		if !is && err != nil { // there may be none, or it may be the one that cannot be opened
			one = r.readPassword(ctx, ref)
		}
		found[ref] = one
	}
	return found, nil
}

// readPassword reads one alone.
func (r *Readings) readPassword(ctx context.Context, ref id.Secret) password {
	text, err := r.secrets.Get(ctx, ref)
	if failure.CodeOf(err) == "secret_not_found" {
		return password{}
	}
	return password{text: secrets.Text(text), err: err}
}
