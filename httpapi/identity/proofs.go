package identityapi

import (
	"crypto/sha256"

	"github.com/golang-jwt/jwt/v5"
	lru "github.com/hashicorp/golang-lru/v2"
)

// proofsKept bounds the tokens whose signatures are known. One that is dropped is checked anew.
const proofsKept = 1 << 14

// Proofs remember tokens whose signatures were right, so that a signature is checked once and not with each request.
// They have the digests of tokens and not the tokens. Safe for concurrent use.
type Proofs struct {
	kept *lru.Cache[[sha256.Size]byte, *claims]
}

// NewProofs remembers none yet.
func NewProofs() *Proofs {
	kept, err := lru.New[[sha256.Size]byte, *claims](proofsKept)
	if err != nil {
		panic(err) // the size is positive
	}
	return &Proofs{kept: kept}
}

// claims gives what a token says, whose signature was made with a key; nobody may change it. Whether it is valid now,
// and for us, has to be asked besides.
func (p *Proofs) claims(token string, key []byte) (*claims, error) {
	of := sha256.Sum256([]byte(token))
	if said, known := p.kept.Get(of); known {
		return said, nil
	}
	var said claims
	_, err := jwt.ParseWithClaims(token, &said, func(*jwt.Token) (any, error) { return key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithoutClaimsValidation())
	if err != nil {
		return nil, err
	}
	p.kept.Add(of, &said)
	return &said, nil
}
