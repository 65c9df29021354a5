#!/usr/bin/env python3
"""Draws the tray icons: one shape per state, told apart without colour, in three variants.

    python3 make.py            writes <state>-<variant>.svg and .png (44 × 44, needs rsvg-convert)

Variants: `light` for dark panels, `dark` for light panels, `template` for macOS, which tints it.
"""
import pathlib
import subprocess

MOON = "M28.5 6.5 A16 16 0 1 0 38 27.5 A13 13 0 0 1 28.5 6.5 Z"
SHAPES = {
    # A closed eye: nothing to do, all is well.
    "asleep": '<g {stroke}><path d="M6 19 Q22 33 38 19"/><path d="M10 25 L7 30"/><path d="M18 28.5 L16.5 34"/>'
              '<path d="M26 28.5 L27.5 34"/><path d="M34 25 L37 30"/></g>',
    # An open eye: a night runs.
    "working": '<g {stroke}><path d="M5 22 Q22 5 39 22 Q22 39 5 22 Z"/></g><circle cx="22" cy="22" r="5.5" {fill}/>',
    # A moon with a badge: a proposal waits.
    "waiting": '<path d="' + MOON + '" {fill} mask="url(#badge)"/><circle cx="34" cy="11" r="6.5" {fill}/>'
               '<mask id="badge"><rect width="44" height="44" fill="white"/><circle cx="34" cy="11" r="10" fill="black"/></mask>',
    # A moon struck out: paused.
    "paused": '<path d="' + MOON + '" {fill} mask="url(#strike)"/><path d="M7 7 L37 37" {stroke}/>'
              '<mask id="strike"><rect width="44" height="44" fill="white"/>'
              '<path d="M7 7 L37 37" stroke="black" stroke-width="9"/></mask>',
    # A moon with an exclamation mark: somebody must look.
    "attention": '<path d="' + MOON + '" {fill} mask="url(#mark)"/><path d="M35 5 L35 17" {stroke}/><circle cx="35" cy="23.5" r="2.6" {fill}/>'
                 '<mask id="mark"><rect width="44" height="44" fill="white"/>'
                 '<path d="M35 3 L35 25" stroke="black" stroke-width="14" stroke-linecap="round"/></mask>',
}
COLOURS = {"light": "#f4f4f5", "dark": "#27272a", "template": "#000000"}

here = pathlib.Path(__file__).parent
for state, shape in SHAPES.items():
    for variant, colour in COLOURS.items():
        body = shape.format(
            stroke=f'fill="none" stroke="{colour}" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"',
            fill=f'fill="{colour}"',
        )
        svg = here / f"{state}-{variant}.svg"
        svg.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 44 44" width="44" height="44">{body}</svg>\n'
        )
        subprocess.run(["rsvg-convert", "-w", "44", "-h", "44", svg, "-o", svg.with_suffix(".png")], check=True)
