"""Make a site of the pages of the repository, where they lie: links mean the same there and in the repository.

`docs/index.md` is the only list of pages. Its headings and tables are the navigation, beside the pages of
ops, which their own index lists. Whatever else a page links to, such as a source file, becomes a page, too.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path

import markdown_it
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
INDEX, OPS = "docs/index.md", "docs/ops/index.md"
SHIM = "iframe-worker.js"
FENCE = re.compile(r"(```+)(.*)")
ITEM = re.compile(r"(?:[-*]|\d+\.) +")
LINK = re.compile(r"\]\(([^)\s#:]+)((?:#[^)\s]*)?)\)")
ROW = re.compile(r"^\| \[(.+?)\]\((.+?)\) \|", re.MULTILINE)
# What both parsers must find in a page: otherwise it is another page on GitHub than here.
COUNTED = ["<li>", "<pre", "<td", "<th", "<h2", "<h3", "<a href", "<code", "<em>", "<strong>"]

log = logging.getLogger("mkdocs.hooks.pages")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the navigation: the first page, the index, and a section for each of its headings."""
    first, *sections = headings()
    home, *rest = first[1]
    ops = [OPS, *({name.strip("`"): page} for name, page in rows(OPS, read(OPS)))]
    config.nav = [
        {home[0]: home[1]},
        {"All pages": INDEX},
        *(
            {heading: [{title: ops if page == OPS else page} for title, page in found]}
            for heading, found in [(first[0], rest), *sections]
        ),
    ]
    return config


def headings() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the headings of the index, each with the titles and paths of its pages."""
    parts = re.split(r"^## (.+)$", read(INDEX), flags=re.MULTILINE)
    return [(parts[i], rows(INDEX, parts[i + 1])) for i in range(1, len(parts), 2)]


def rows(page: str, text: str) -> list[tuple[str, str]]:
    """Return the titles and paths of the pages that tables of a page list."""
    return [(m[1], resolve(page, m[2])) for m in ROW.finditer(text)]


def read(path: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def resolve(page: str, link: str) -> str:
    """Return the path in the repository of what a page links to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take the pages of the navigation and what they link to, instead of what lies in the folder docs."""
    listed = [INDEX, *(page for name in (INDEX, OPS) for _, page in rows(name, read(name)))]
    linked = sorted({link for page in listed for link in sources(page)})
    hidden = InclusionLevel.NOT_IN_NAV
    return Files(
        [
            *(file for file in files if not file.src_uri.endswith((".md", ".json"))),
            *(File.generated(config, page, abs_src_path=str(ROOT / page)) for page in listed),
            *(File.generated(config, f"{x}.md", content=show(x), inclusion=hidden) for x in linked),
            File.generated(config, SHIM, abs_src_path=str(ROOT / "site" / SHIM)),
        ]
    )


def sources(page: str) -> list[str]:
    """Return what a page links to that is no page itself."""
    found = [resolve(page, m[1]) for m in LINK.finditer(read(page))]
    return [path for path in found if not path.endswith(".md") and (ROOT / path).exists()]


def show(source: str) -> str:
    """Return the page of a source file, or of a folder."""
    path = ROOT / source
    title = f"---\nsearch: {{exclude: true}}\n---\n# {source}\n\n"
    if path.is_dir():
        names = sorted(p.name + "/" * p.is_dir() for p in path.iterdir() if p.name != "__pycache__")
        return title + "".join(f"- `{name}`\n" for name in names)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return title + f"A file of {path.stat().st_size} bytes.\n"
    return f"{title}````{path.suffix[1:]}\n{text[:100_000]}\n````\n"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write for Python-Markdown what GitHub reads otherwise: links, fences and lists."""
    uri = page.file.src_uri

    def relink(m: re.Match[str]) -> str:
        path = resolve(uri, m[1])
        return f"]({m[1].rstrip('/')}.md{m[2]})" if files.get_file_from_path(path + ".md") else m[0]

    out: list[str] = []
    fence = ""
    continues = False  # whether this line may follow a second paragraph of a list item, which wants a blank line behind it
    items: list[int] = []  # where the text of each list item begins that this line may belong to
    for line in markdown.splitlines():
        text = line.lstrip(" ")
        column = len(line) - len(text)
        while items and text and column < items[-1] and not fence:
            items.pop()
        indent = " " * (4 * len(items) + max(0, column - (items[-1] if items else 0)))
        if (m := FENCE.match(text)) and (not fence or text == fence):
            # A fence wants blank lines around it, and the path of a file as its title.
            language, _, path = m[2].partition(" ")
            named = f'{indent}{m[1]}{language} title="{path}"' if path else indent + text
            out += [named, ""] if fence else ["", named]
            fence = "" if fence else m[1]
        elif fence:
            out.append(indent + text)
        else:
            if m := ITEM.match(text):
                items.append(column + len(m[0]))
                out += [""] * continues
            continues = bool(indent and text and not m and (continues or not out[-1].strip()))
            out.append(indent + LINK.sub(relink, text))
    return "\n".join(out) + "\n"


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Warn about a page that means something else on GitHub."""
    if page.file.inclusion.is_in_nav():
        text = read(page.file.src_uri)
        there = markdown_it.MarkdownIt("commonmark").enable("table").render(text)
        for tag in COUNTED:
            if (here := html.count(tag)) != there.count(tag):
                log.warning(
                    "%s: %d %s here, %d on GitHub", page.file.src_uri, here, tag, there.count(tag)
                )
    return html
