//go:build !linux && !darwin && !windows

package main

import "errors"

func readVolume(string) (volume, error) { return volume{}, errors.ErrUnsupported }
