package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/bundle"
)

// signer is a program that signs one file; the zero value signs nothing.
type signer struct {
	path   string
	ending string // of the signature's name
	args   func(file, signature string) []string
}

// The programs that can sign, in the order in which they are looked for. cosign writes a bundle that holds all that
// verifying needs, minisign a detached signature.
var signers = []string{"cosign", "minisign"}

func signerArgs(name, key string) (string, func(file, signature string) []string) {
	if name == "cosign" {
		return ".sigstore.json", func(file, signature string) []string {
			args := []string{"sign-blob", "--yes", "--bundle", signature}
			if key != "" {
				args = append(args, "--key", key)
			}
			return append(args, file)
		}
	}
	return ".minisig", func(file, signature string) []string {
		args := []string{"-S", "-m", file, "-x", signature}
		if key != "" {
			args = append(args, "-s", key)
		}
		return args
	}
}

// findSigner looks before anything is built: a release that should be signed must not come out unsigned.
func findSigner(want, key string) (signer, error) {
	names := []string{want}
	switch want {
	case "":
		return signer{}, nil
	case "auto":
		names = signers
	case "cosign", "minisign":
	default:
		return signer{}, &usageError{fmt.Errorf("--sign=%s: unknown program", want), "write --sign=cosign or --sign=minisign"}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			ending, args := signerArgs(name, key)
			return signer{path, ending, args}, nil
		}
	}
	return signer{}, &noSignerError{names}
}

type noSignerError struct{ names []string }

func (n *noSignerError) Error() string {
	return "--sign: no " + strings.Join(n.names, " or ") + " on PATH: nothing was built"
}
func (n *noSignerError) Hint() string { return "install one, or leave out --sign" }

// sign signs the checksums, and so all that they list. The program may ask for a password on the terminal.
func (p *packing) sign() error {
	if p.signer.path == "" {
		return nil
	}
	sums := filepath.Join(p.result.Out, "SHA256SUMS")
	signature := sums + p.signer.ending
	if err := os.Remove(signature); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	cmd := exec.Command(p.signer.path, p.signer.args(sums, signature)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.e.Stdin, p.e.Stderr, p.e.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: the bundle is built and not signed", p.signer.path, err)
	}
	artifact, err := bundle.Signature(signature)
	if err != nil {
		return fmt.Errorf("%s left no signature: %w", p.signer.path, err)
	}
	p.result.Artifacts = append(p.result.Artifacts, artifact)
	return nil
}
