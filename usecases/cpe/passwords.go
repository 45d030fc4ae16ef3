package cpecases

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// passwordsKept bounds the passwords in memory. One that is dropped is read again.
const passwordsKept = 1 << 16

// Passwords reads passwords of CPEs and keeps them in memory, since what is under a reference never changes. After a
// power cut thousands of CPEs call at the same time: those whose passwords are not in memory share readings. Safe for
// concurrent use.
type Passwords struct {
	secrets *vault.Secrets
	kept    *lru.Cache[id.Secret, secrets.Text]
	joined  joined.Many[id.Secret, password]
}

// password has a text of the vault, or why it cannot be read.
type password struct {
	text secrets.Text
	err  error
}

// NewPasswords begins with none in memory.
func NewPasswords(from *vault.Secrets) *Passwords {
	kept, err := lru.New[id.Secret, secrets.Text](passwordsKept)
	if err != nil {
		panic(err) // the size is positive
	}
	return &Passwords{secrets: from, kept: kept}
}

// Of gives a password; zero when there is none.
func (p *Passwords) Of(ctx context.Context, ref id.Secret) (secrets.Text, error) {
	if ref.IsZero() {
		return "", nil
	}
	if text, is := p.kept.Get(ref); is {
		return text, nil
	}
	found, _, err := p.joined.Of(ctx, ref, p.readAll)
	if err != nil {
		return "", err
	}
	if found.err == nil && !found.text.IsZero() {
		p.kept.Add(ref, found.text)
	}
	return found.text, found.err
}

// readAll reads several at once. One that cannot be opened is a fault of those alone who ask for it.
func (p *Passwords) readAll(ctx context.Context, refs []id.Secret) (map[id.Secret]password, error) {
	kept, err := p.secrets.GetAll(ctx, refs)
	if kept == nil {
		return nil, err
	}
	found := make(map[id.Secret]password, len(refs))
	for _, ref := range refs {
		text, is := kept[ref]
		one := password{text: secrets.Text(text)}
		if !is && err != nil { // there may be none, or it may be the one that cannot be opened
			one = p.read(ctx, ref)
		}
		found[ref] = one
	}
	return found, nil
}

// read reads one alone.
func (p *Passwords) read(ctx context.Context, ref id.Secret) password {
	text, err := p.secrets.Get(ctx, ref)
	if failure.CodeOf(err) == "secret_not_found" {
		return password{}
	}
	return password{text: secrets.Text(text), err: err}
}
