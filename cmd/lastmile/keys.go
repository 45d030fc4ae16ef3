package main

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// openKeyring is the platform key of the configuration; without one, in development, a key made and kept in DATA_DIR.
func openKeyring(cfg Config) (*secrets.Keyring, error) {
	if cfg.EncryptionKey.IsZero() {
		ring, err := secrets.LoadOrCreate(cfg.DataDir)
		if err != nil {
			return nil, fmt.Errorf("platform key: %w", err)
		}
		return ring, nil
	}
	previous := make([]string, len(cfg.PreviousEncryptionKeys))
	for i, k := range cfg.PreviousEncryptionKeys {
		previous[i] = k.Reveal()
	}
	ring, err := secrets.Parse(cfg.EncryptionKey.Reveal(), previous...)
	if err != nil {
		return nil, fmt.Errorf("PLATFORM_ENCRYPTION_KEY: %w", err)
	}
	return ring, nil
}

// signingKey is what access tokens are signed with: JWT_SIGNING_KEY, or in development the installation's own, which
// lies in the vault under the platform key of DATA_DIR and is the same in every replica.
func signingKey(cfg Config, v *vault.Vault) []byte {
	if cfg.JWTSigningKey.IsZero() {
		return v.Key(secrets.Tokens)
	}
	return secrets.Derive([]byte(cfg.JWTSigningKey.Reveal()), secrets.Tokens)
}
